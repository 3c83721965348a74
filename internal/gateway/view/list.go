// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
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

// WriteList writes a page as the API server writes a list. The items are copied as they are, which is why a list costs
// little.
func WriteList(w io.Writer, gvk schema.GroupVersionKind, version string, page Page) error {
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
		return fmt.Errorf("cannot encode a list: %w", err)
	}
	// The closing brace makes room for the items.
	if _, err := io.WriteString(w, string(head[:len(head)-1])+`,"items":[`); err != nil {
		return err
	}
	for i, item := range page.Items {
		if i > 0 {
			if _, err := io.WriteString(w, ","); err != nil {
				return err
			}
		}
		if _, err := w.Write(item.JSON); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "]}\n")
	return err
}

// ListSize returns about how many bytes WriteList writes.
func ListSize(page Page) int {
	size := 256 + len(page.Items)
	for _, item := range page.Items {
		size += len(item.JSON)
	}
	return size
}

// ReadList reads what the API server has listed, in the order of namespaces and names, with its resourceVersion. Items of a
// list carry no kind of their own, so they are given the list's.
func ReadList(raw []byte, gvk schema.GroupVersionKind, keepManagedFields bool) ([]*Item, string, error) {
	var list struct {
		Metadata metav1.ListMeta  `json:"metadata"`
		Items    []map[string]any `json:"items"`
	}
	if err := utiljson.Unmarshal(raw, &list); err != nil {
		return nil, "", fmt.Errorf("cannot read a list of %s: %w", gvk.Kind, err)
	}
	out := make([]*Item, 0, len(list.Items))
	for _, content := range list.Items {
		object := &unstructured.Unstructured{Object: content}
		object.SetGroupVersionKind(gvk)
		item, err := NewItem(object, keepManagedFields)
		if err != nil {
			return nil, "", err
		}
		out = append(out, item)
	}
	slices.SortFunc(out, Compare)
	return out, list.Metadata.ResourceVersion, nil
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
