// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// owner is a manager with what it owns.
type owner struct {
	FieldOwner

	fields *fieldpath.Set
}

// ownersOf returns the managers of the object, in their order.
func ownersOf(object map[string]any) ([]owner, error) {
	raw, err := json.Marshal(object["metadata"])
	if err != nil {
		return nil, fmt.Errorf("cannot encode metadata: %w", err)
	}
	var metadata metav1.ObjectMeta
	if err := json.Unmarshal(raw, &metadata); err != nil {
		return nil, fmt.Errorf("cannot read metadata: %w", err)
	}
	var out []owner
	for _, entry := range metadata.ManagedFields {
		one := owner{FieldOwner{Manager: entry.Manager, Operation: string(entry.Operation), Subresource: entry.Subresource}, &fieldpath.Set{}}
		if entry.Time != nil {
			one.Time = new(entry.Time.UTC())
		}
		if entry.FieldsV1 != nil {
			if err := one.fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
				return nil, fmt.Errorf("cannot read the fields of %q: %w", entry.Manager, err)
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// union returns what anybody owns. It says which lists have keys, which are sets, and what is owned as a whole only.
func union(owners []owner) *fieldpath.Set {
	out := &fieldpath.Set{}
	for _, one := range owners {
		out = out.Union(one.fields)
	}
	return out
}

// owns reports whether a set has a field, something in it, or what it is a part of. Who owns an object or a list and nothing in it has its
// fields only where nobody else has one of its own there: otherwise they have made it, and no more.
func owns(set, known *fieldpath.Set, path fieldpath.Path) bool {
	for i, element := range path {
		below := set.WithPrefix(element)
		known = known.WithPrefix(element)
		if i == len(path)-1 || below.Empty() {
			return !below.Empty() || set.Members.Has(element) && (i == len(path)-1 || known.Empty())
		}
		set = below
	}
	return false
}

// isWhole reports whether the element of the set is owned as a whole only, as a list or a map without parts of their own.
func isWhole(set *fieldpath.Set, element fieldpath.PathElement) bool {
	return set.Members.Has(element) && set.WithPrefix(element).Empty()
}

// keysOf returns how the items of a list are told apart: by keys, by their value, or, if both are empty, not at all.
func keysOf(list *fieldpath.Set) (keys []string, byValue bool) {
	for _, elements := range []func(func(fieldpath.PathElement)){list.Members.Iterate, list.Children.Iterate} {
		elements(func(one fieldpath.PathElement) {
			byValue = byValue || one.Value != nil
			if one.Key == nil || keys != nil {
				return
			}
			for _, field := range *one.Key {
				keys = append(keys, field.Name)
			}
		})
	}
	return keys, byValue
}
