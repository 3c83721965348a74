// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Item is an object as it is served: encoded once, with beside it what lists look at. It is never changed.
type Item struct {
	// Namespace is empty for what belongs to no namespace.
	Namespace string
	// Name of the object.
	Name string
	// UID of the object.
	UID types.UID
	// Version is its resourceVersion; 0 where that is no number, which no API server that exists sends.
	Version uint64
	// Created is when it was created.
	Created time.Time
	// Labels of the object.
	Labels labels.Set
	// Deleting is true for an object that waits for its finalizers.
	Deleting bool
	// JSON is the object.
	JSON []byte

	search string
}

// NewItem encodes the object, without its managedFields unless they are to be kept. It changes obj.
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
		Created: obj.GetCreationTimestamp().Time, Labels: obj.GetLabels(), Deleting: obj.GetDeletionTimestamp() != nil,
		JSON: []byte(strings.TrimSuffix(string(raw), "\n")),
	}
	var search strings.Builder
	search.WriteString(strings.ToLower(item.Namespace + "/" + item.Name))
	for key, value := range item.Labels {
		search.WriteString(" " + strings.ToLower(key+"="+value))
	}
	item.search = search.String()
	return item, nil
}

// Key is what objects of a kind are told apart by.
func (i *Item) Key() string { return Key(i.Namespace, i.Name) }

// Key returns the key of the object of that name.
func Key(namespace, name string) string { return namespace + "/" + name }

// Compare orders items by namespace and name.
func Compare(a, b *Item) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// NameOnly returns an item of which nothing but the name may be known.
func NameOnly(gvk schema.GroupVersionKind, name string) *Item {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	object.SetName(name)
	item, err := NewItem(object, false)
	if err != nil {
		return &Item{Name: name, JSON: []byte("{}")} // strings can always be encoded
	}
	return item
}

// Within returns those of the items, which are ordered, that are in the namespaces, which are ordered too.
func Within(items []*Item, namespaces []string) []*Item {
	var out []*Item
	for _, namespace := range namespaces {
		begin, _ := slices.BinarySearchFunc(items, &Item{Namespace: namespace}, Compare)
		// No name of a namespace contains a zero, so this comes right behind the last one.
		end, _ := slices.BinarySearchFunc(items, &Item{Namespace: namespace + "\x00"}, Compare)
		if len(namespaces) == 1 {
			return items[begin:end:end]
		}
		out = append(out, items[begin:end]...)
	}
	return out
}
