// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package diff

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json" // which reads whole numbers as such
)

const fieldMetadata = "metadata"

// Difference is what a write would change.
type Difference struct {
	// Before is the object as it is. Default: empty, for an object that the write creates.
	Before Object `json:"before,omitempty" doc:"The object as it is. Left out if the write creates it"`
	// After is the object as the API server would store it.
	After Object `json:"after" doc:"The object as the API server would store it, with its defaults and what admission changes"`
	// Changes are the fields that differ, in the order of their paths.
	Changes []FieldChange `json:"changes" nullable:"false" doc:"The fields that differ, in the order of their paths. What the API server counts itself is left out: resourceVersion, generation and managedFields"`
	// Conflicts are the fields for which the write would be refused without force.
	Conflicts []FieldConflict `json:"conflicts" nullable:"false" doc:"The fields that other managers own: without force the write would be refused, and after is what it would do with force"`
}

// FieldChange is a field that a write changes.
type FieldChange struct {
	// Path of the field.
	Path string `json:"path" doc:"Path of the field, as the API server writes it" example:".spec.template.spec.containers[name=\"web\"].image"`
	// Before and After are its values. Default: empty, for a field that is not there.
	Before Value `json:"before,omitempty" doc:"Value before the write. Left out if the field was not there"`
	After  Value `json:"after,omitempty" doc:"Value after the write. Left out if the field is removed"`
	// Owners of the field, or of something in it, before the write.
	Owners []FieldOwner `json:"owners" nullable:"false" doc:"Who owned the field, or something in it, before the write. Nobody owns a default"`
}

// FieldOwner is a manager that owns a field.
type FieldOwner struct {
	Manager     string     `json:"manager" doc:"Name of the manager"`
	Operation   string     `json:"operation" enum:"Apply,Update" doc:"How it has set the field"`
	Subresource string     `json:"subresource,omitempty" doc:"Subresource that it has written to"`
	Time        *time.Time `json:"time,omitempty" doc:"When it last changed a field that it owns"`
}

// FieldConflict is a field that somebody else owns.
type FieldConflict struct {
	Path    string `json:"path" doc:"Path of the field"`
	Manager string `json:"manager" doc:"Name of the manager that owns it"`
	Message string `json:"message" doc:"What the API server says about it"`
}

// Object is a JSON object of Kubernetes.
type Object map[string]any

// Schema implements huma.SchemaProvider.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Value is any JSON value.
type Value stdjson.RawMessage

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return stdjson.RawMessage(v).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(raw []byte) error {
	*v = append((*v)[:0], raw...)
	return nil
}

// Schema implements huma.SchemaProvider. Only the API server knows the types of fields.
func (Value) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// Between returns the difference between two objects in JSON with their managedFields. before may be empty.
func Between(before, after []byte) (*Difference, error) {
	was, is := map[string]any{}, map[string]any{}
	errs := []error{json.Unmarshal(after, &is)}
	if len(before) > 0 {
		errs = append(errs, json.Unmarshal(before, &was))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("cannot read an object: %w", err)
	}
	owners, err := ownersOf(was)
	if err != nil {
		return nil, err
	}
	later, err := ownersOf(is)
	if err != nil {
		return nil, err
	}
	c := comparison{owners: owners, known: union(slices.Concat(owners, later)), changes: []FieldChange{}}
	out := &Difference{After: is, Conflicts: []FieldConflict{}}
	unstructured.RemoveNestedField(was, fieldMetadata, "managedFields")
	unstructured.RemoveNestedField(is, fieldMetadata, "managedFields")
	if len(before) > 0 {
		out.Before = was
		err = c.maps(nil, c.known, counted(was, false), counted(is, false))
	} else {
		err = c.maps(nil, union(later), map[string]any{fieldMetadata: map[string]any{}}, counted(is, true))
	}
	out.Changes = c.changes
	return out, err
}

// counted returns the object without what the API server counts itself, and without what it gives every new object.
func counted(object map[string]any, created bool) map[string]any {
	out := maps.Clone(object)
	metadata, ok := object[fieldMetadata].(map[string]any)
	if !ok {
		return out
	}
	metadata = maps.Clone(metadata)
	out[fieldMetadata] = metadata
	for _, name := range []string{"resourceVersion", "generation"} {
		delete(metadata, name)
	}
	if created {
		delete(metadata, "uid")
		delete(metadata, "creationTimestamp")
	}
	return out
}
