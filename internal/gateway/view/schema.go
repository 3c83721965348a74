// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Schema is a schema as JSON.
type Schema = map[string]any

// Keys of schemas.
const (
	keyRef         = "$ref"
	keyType        = "type"
	keyProperties  = "properties"
	keyRequired    = "required"
	keyDefault     = "default"
	keyDescription = "description"
)

// refPrefix begins references between schemas of an OpenAPI document.
const refPrefix = "#/components/schemas/"

// Schemas are the schemas of an OpenAPI document of the API server, by short names such as PodSpec, and in the dialect of
// OpenAPI 3.1, which is JSON Schema.
type Schemas struct {
	// ByName are the schemas.
	ByName map[string]Schema
	// kinds are the names of the schemas of kinds.
	kinds map[schema.GroupVersionKind]string
}

// ReadSchemas reads documents of the API server (/openapi/v3/…), which are in OpenAPI 3.0. A schema that is in several of them
// is the same in all.
func ReadSchemas(documents ...[]byte) (*Schemas, error) {
	out := &Schemas{ByName: map[string]Schema{}, kinds: map[schema.GroupVersionKind]string{}}
	from := map[string]string{}
	for _, raw := range documents {
		var document struct {
			Components struct {
				Schemas map[string]Schema `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal(raw, &document); err != nil {
			return nil, fmt.Errorf("cannot read an OpenAPI document of the API server: %w", err)
		}
		for name, one := range document.Components.Schemas {
			short := shortName(name)
			if other := from[short]; other != "" && other != name {
				return nil, fmt.Errorf("cannot name schemas: %q and %q are both %q", other, name, short)
			}
			from[short] = name
			out.note(short, one)
			translate(one)
			out.ByName[short] = one
		}
	}
	return out, nil
}

// shortName returns the last part of a name such as io.k8s.api.core.v1.PodSpec.
func shortName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// note remembers which kind the schema describes.
func (s *Schemas) note(name string, of Schema) {
	described, _ := of["x-kubernetes-group-version-kind"].([]any)
	if len(described) != 1 { // options and Status are of many groups
		return
	}
	if gvk, ok := described[0].(map[string]any); ok {
		s.kinds[schema.GroupVersionKind{Group: textAt(gvk, "group"), Version: textAt(gvk, "version"), Kind: textAt(gvk, "kind")}] = name
	}
}

// Of returns the name of the schema of a kind.
func (s *Schemas) Of(gvk schema.GroupVersionKind) (string, bool) {
	name, ok := s.kinds[gvk]
	return name, ok
}

// Needed returns the names of the schemas that these refer to, and their own, in order.
func (s *Schemas) Needed(roots ...string) []string {
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if one, known := s.ByName[name]; known && !seen[name] {
			seen[name] = true
			eachRef(one, visit)
		}
	}
	for _, root := range roots {
		visit(root)
	}
	return slices.Sorted(maps.Keys(seen))
}

// eachRef calls found with the name of every schema that this one refers to.
func eachRef(value any, found func(name string)) {
	switch value := value.(type) {
	case map[string]any:
		if ref, ok := value[keyRef].(string); ok {
			found(strings.TrimPrefix(ref, refPrefix))
		}
		for _, inner := range value {
			eachRef(inner, found)
		}
	case []any:
		for _, inner := range value {
			eachRef(inner, found)
		}
	}
}

// translate changes a schema from the dialect of the API server to JSON Schema.
func translate(of Schema) {
	intOrString := of["x-kubernetes-int-or-string"] == true
	for key := range of {
		if strings.HasPrefix(key, "x-kubernetes-") {
			delete(of, key) // which only the API server understands
		}
	}
	if intOrString || of["format"] == "int-or-string" {
		delete(of, "format")
		delete(of, "anyOf")
		of["oneOf"] = []any{Schema{keyType: "integer"}, Schema{keyType: "string"}}
		delete(of, "pattern") // which would not apply to the integer
	}
	if all, ok := of["allOf"].([]any); ok && len(all) == 1 { // OpenAPI 3.0 has no description beside a reference
		if only, ok := all[0].(map[string]any); ok && only[keyRef] != nil {
			delete(of, "allOf")
			of[keyRef] = only[keyRef]
		}
	}
	if ref, ok := of[keyRef].(string); ok {
		of[keyRef] = refPrefix + shortName(ref)
	}
	switch value := of[keyDefault].(type) { // which Go has for a field that is not a pointer
	case string:
		if value == "" {
			delete(of, keyDefault)
		}
	case map[string]any:
		if len(value) == 0 {
			delete(of, keyDefault)
		}
	}
	translateWithin(of)
}

// translateWithin translates the schemas within one.
func translateWithin(of Schema) {
	if properties, ok := of[keyProperties].(map[string]any); ok {
		for _, property := range properties {
			translateAny(property)
		}
	}
	for _, key := range []string{"items", "additionalProperties", "not"} {
		translateAny(of[key])
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := of[key].([]any); ok {
			for _, one := range list {
				translateAny(one)
			}
		}
	}
}

func translateAny(value any) {
	if one, ok := value.(map[string]any); ok {
		translate(one)
	}
}

// SchemaPath returns the path of the document in which the API server describes the kinds of a group and version.
func SchemaPath(of schema.GroupVersion) string {
	if of.Group == "" {
		return "/openapi/v3/api/" + of.Version
	}
	return "/openapi/v3/apis/" + of.Group + "/" + of.Version
}
