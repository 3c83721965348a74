// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Item is an object as the API serves it: encoded once, with the fields that lists select by. It never changes.
type Item struct {
	// Namespace is empty for cluster-scoped objects.
	Namespace string
	// Name of the object.
	Name string
	// UID of the object.
	UID types.UID
	// Version is its resourceVersion, or 0 if that is not a number.
	Version uint64
	// Created is when it was created, and for an event when it was last seen.
	Created time.Time
	// Labels of the object.
	Labels labels.Set
	// Owners are the UIDs of the objects that own it.
	Owners []types.UID
	// Fields are those besides name and namespace that lists select by; nil for most kinds.
	Fields fields.Set
	// Health says whether it works.
	Health Health
	// Deleting is true for an object that is being deleted.
	Deleting bool
	// JSON is the object.
	JSON []byte
	// Tag is that of JSON.
	Tag Tag

	search string

	derive  sync.Once
	derived any
}

// Derive returns what the function makes of the item. It is called once for each item, so all callers have to give the same function.
func (i *Item) Derive(from func() any) any {
	i.derive.Do(func() { i.derived = from() })
	return i.derived
}

// NewItem encodes the object, without its managedFields unless keepManagedFields is true. It changes obj.
func NewItem(obj *unstructured.Unstructured, keepManagedFields bool) (*Item, error) {
	if !keepManagedFields {
		unstructured.RemoveNestedField(obj.Object, "metadata", "managedFields")
	}
	raw, err := obj.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", obj.GetKind(), obj.GetName(), err)
	}
	// A resourceVersion is a number on every API server since 1.35, and comparable within a kind.
	version, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		version = 0
	}
	item := &Item{
		Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(), Version: version,
		Created: happened(obj), Labels: obj.GetLabels(), Deleting: obj.GetDeletionTimestamp() != nil,
		Fields: fieldsBy(obj), Health: healthOf(obj),
		JSON: []byte(strings.TrimSuffix(string(raw), "\n")),
	}
	item.Tag = TagOf(item.JSON)
	for _, owner := range obj.GetOwnerReferences() {
		item.Owners = append(item.Owners, owner.UID)
	}
	var search strings.Builder
	search.WriteString(strings.ToLower(item.Namespace + "/" + item.Name))
	for key, value := range item.Labels {
		search.WriteString(" " + strings.ToLower(key+"="+value))
	}
	for _, text := range append(findable(obj), item.Health.Reason) {
		search.WriteString(" " + strings.ToLower(text))
	}
	item.search = search.String()
	return item, nil
}

// Key identifies an object among those of its kind.
func (i *Item) Key() string { return Key(i.Namespace, i.Name) }

// Key returns the key of the object with that name.
func Key(namespace, name string) string { return namespace + "/" + name }

// Compare orders items by namespace and name.
func Compare(a, b *Item) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// NameOnly returns an item that has a name and nothing else.
func NameOnly(gvk schema.GroupVersionKind, name string) *Item {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	object.SetName(name)
	item, err := NewItem(object, false)
	if err != nil {
		return &Item{Name: name, JSON: []byte("{}"), Tag: TagOf([]byte("{}"))} // strings can always be encoded
	}
	return item
}

// Within returns the items in the namespaces. Both lists are ordered.
func Within(items []*Item, namespaces []string) []*Item {
	var out []*Item
	for _, namespace := range namespaces {
		begin, _ := slices.BinarySearchFunc(items, &Item{Namespace: namespace}, Compare)
		// A namespace name never contains a zero byte, so this sorts right after the last item.
		end, _ := slices.BinarySearchFunc(items, &Item{Namespace: namespace + "\x00"}, Compare)
		if len(namespaces) == 1 {
			return items[begin:end:end]
		}
		out = append(out, items[begin:end]...)
	}
	return out
}
