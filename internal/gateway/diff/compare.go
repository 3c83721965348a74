// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// comparison collects the fields that differ.
type comparison struct {
	owners []owner
	// known is what anybody owns.
	known   *fieldpath.Set
	changes []FieldChange
}

// field is one of an object, or an item of a list, before and after.
type field struct {
	path    fieldpath.Path
	was, is any
	// known is what anybody owns below it, and whole is true if it is owned as a whole.
	known *fieldpath.Set
	whole bool
}

// maps compares two maps key by key.
func (c *comparison) maps(path fieldpath.Path, known *fieldpath.Set, was, is map[string]any) error {
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		element := fieldpath.FieldNameElement(key)
		err := c.field(field{
			path: append(path.Copy(), element), was: was[key], is: is[key], known: known.WithPrefix(element), whole: isWhole(known, element),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// field compares the values of a field. Nothing stands for a field that is not there, and for null, which the API server does not store.
func (c *comparison) field(f field) error {
	if reflect.DeepEqual(f.was, f.is) {
		return nil
	}
	if !f.whole {
		was, wasMap := f.was.(map[string]any)
		is, isMap := f.is.(map[string]any)
		if wasMap && isMap {
			return c.maps(f.path, f.known, was, is)
		}
		before, wasList := f.was.([]any)
		after, isList := f.is.([]any)
		if wasList && isList {
			return c.lists(f, before, after)
		}
	}
	return c.changed(f)
}

// lists compares two lists item by item, if their items can be told apart.
func (c *comparison) lists(f field, was, is []any) error {
	keys, byValue := keysOf(f.known)
	before, order, told := items(was, keys, byValue)
	after, more, toldAfter := items(is, keys, byValue)
	if !told || !toldAfter {
		return c.changed(f)
	}
	found := len(c.changes)
	for _, one := range more {
		if _, both := before[one.String()]; !both {
			order = append(order, one)
		}
	}
	for _, element := range order {
		err := c.field(field{
			path: append(f.path.Copy(), element), was: before[element.String()], is: after[element.String()], known: f.known.WithPrefix(element),
		})
		if err != nil {
			return err
		}
	}
	if len(c.changes) == found { // only the order is another
		return c.changed(f)
	}
	return nil
}

// items returns the items of a list by the names of their path elements, and these in order; false if they cannot be told apart.
func items(list []any, keys []string, byValue bool) (byName map[string]any, order []fieldpath.PathElement, told bool) {
	byName = map[string]any{}
	for _, item := range list {
		element, ok := elementOf(item, keys, byValue)
		if !ok {
			return nil, nil, false
		}
		if _, twice := byName[element.String()]; twice {
			return nil, nil, false
		}
		byName[element.String()] = item
		order = append(order, element)
	}
	return byName, order, true
}

// elementOf returns the path element of an item.
func elementOf(item any, keys []string, byValue bool) (fieldpath.PathElement, bool) {
	if byValue {
		return fieldpath.ValueElement(value.NewValueInterface(item)), true
	}
	object, ok := item.(map[string]any)
	if !ok || len(keys) == 0 {
		return fieldpath.PathElement{}, false
	}
	var fields value.FieldList
	for _, key := range keys {
		if object[key] == nil {
			return fieldpath.PathElement{}, false
		}
		fields = append(fields, value.Field{Name: key, Value: value.NewValueInterface(object[key])})
	}
	return fieldpath.KeyElement(fields...), true
}

// changed notes that a field differs.
func (c *comparison) changed(f field) error {
	out := FieldChange{Path: f.path.String(), Owners: []FieldOwner{}}
	for at, into := range map[*any]*Value{&f.was: &out.Before, &f.is: &out.After} {
		if *at == nil {
			continue
		}
		raw, err := json.Marshal(*at)
		if err != nil {
			return fmt.Errorf("cannot encode %s: %w", out.Path, err)
		}
		*into = raw
	}
	for _, one := range c.owners {
		if owns(one.fields, c.known, f.path) {
			out.Owners = append(out.Owners, one.FieldOwner)
		}
	}
	c.changes = append(c.changes, out)
	return nil
}
