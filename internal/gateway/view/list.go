// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// tail ends a list.
const tail = "]}\n"

// writeBuffer is the size of one write in bytes, large enough to keep system calls few.
const writeBuffer = 64 << 10

// List is a page in the format of the API server. Its items are written as they are, without encoding them again.
type List struct {
	head  []byte
	items []*Item
}

// NewList returns the list of a page.
func NewList(gvk schema.GroupVersionKind, version string, page Page) (*List, error) {
	meta := metav1.ListMeta{ResourceVersion: version, Continue: page.Continue}
	if page.Remaining > 0 {
		meta.RemainingItemCount = new(int64(page.Remaining))
	}
	head, err := json.Marshal(struct {
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		Metadata   metav1.ListMeta `json:"metadata"`
	}{gvk.GroupVersion().String(), gvk.Kind + "List", meta})
	if err != nil {
		return nil, fmt.Errorf("cannot encode a list: %w", err)
	}
	// The items take the place of the closing brace.
	return &List{head: append(head[:len(head)-1], `,"items":[`...), items: page.Items}, nil
}

// NewRows returns a table of the API server, with other rows than it has itself.
func NewRows(table map[string]json.RawMessage, rows [][]byte) (*List, error) {
	delete(table, "rows")
	head, err := json.Marshal(table)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a table: %w", err)
	}
	out := &List{head: append(head[:len(head)-1], `,"rows":[`...)}
	for _, row := range rows {
		out.items = append(out.items, &Item{JSON: row, Tag: TagOf(row)})
	}
	return out, nil
}

// Size returns how many bytes Write writes.
func (l *List) Size() int {
	size := len(l.head) + max(0, len(l.items)-1) + len(tail)
	for _, item := range l.items {
		size += len(item.JSON)
	}
	return size
}

// Tag returns the tag of the list. It is computed from those of the items, so that a list of megabytes is not read again.
func (l *List) Tag() Tag {
	all := make([]byte, 0, len(l.head)+len(l.items)*len(Tag{}))
	all = append(all, l.head...)
	for _, item := range l.items {
		all = append(all, item.Tag[:]...)
	}
	return TagOf(all)
}

// Write writes the list.
func (l *List) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, min(writeBuffer, l.Size()))
	// The buffer keeps an error and returns it from Flush.
	_, _ = out.Write(l.head)
	for i, item := range l.items {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_, _ = out.Write(item.JSON)
	}
	_, _ = out.WriteString(tail)
	return out.Flush()
}

// ReadList reads a list of the API server, or a part of one. It returns the items by namespace and name, and what the list says of itself. Items of a
// list have no kind of their own, so each gets the kind of the list.
func ReadList(raw []byte, gvk schema.GroupVersionKind, keepManagedFields bool) ([]*Item, metav1.ListMeta, error) {
	var list struct {
		Metadata metav1.ListMeta  `json:"metadata"`
		Items    []map[string]any `json:"items"`
	}
	if err := utiljson.Unmarshal(raw, &list); err != nil {
		return nil, metav1.ListMeta{}, fmt.Errorf("cannot read a list of %s: %w", gvk.Kind, err)
	}
	out := make([]*Item, 0, len(list.Items))
	for _, content := range list.Items {
		object := &unstructured.Unstructured{Object: content}
		object.SetGroupVersionKind(gvk)
		item, err := NewItem(object, keepManagedFields)
		if err != nil {
			return nil, metav1.ListMeta{}, err
		}
		out = append(out, item)
	}
	slices.SortFunc(out, Compare)
	return out, list.Metadata, nil
}

// ReadItem reads an object of the API server.
func ReadItem(raw []byte) (*Item, error) {
	object := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &object.Object); err != nil {
		return nil, fmt.Errorf("cannot read an object: %w", err)
	}
	return NewItem(object, false)
}

// NewestVersion returns the greater of two resourceVersions.
func NewestVersion(a, b string) string {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	if errX != nil || errY == nil && y > x {
		return b
	}
	return a
}

// Strip removes managedFields from an object.
func Strip(raw []byte) ([]byte, error) {
	object := map[string]any{}
	if err := utiljson.Unmarshal(raw, &object); err != nil {
		return nil, fmt.Errorf("cannot read an object: %w", err)
	}
	unstructured.RemoveNestedField(object, "metadata", "managedFields")
	out, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("cannot encode an object: %w", err)
	}
	return out, nil
}
