// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

// KindList is what the API serves.
type KindList struct {
	// Version of the API.
	Version string `json:"version" doc:"Version of Windlass"`
	// Kinds in the order of the table.
	Kinds []KindInfo `json:"kinds" nullable:"false" doc:"All kinds"`
}

// KindInfo is what a page has to know about a kind.
type KindInfo struct {
	// Name as in the routes.
	Name string `json:"name" doc:"Kind, as in the routes"`
	// Kind, Group and Version of the objects.
	Kind    string `json:"kind" doc:"Kind of the objects" example:"Deployment"`
	Group   string `json:"group" doc:"API group of the objects; empty for the core group" example:"apps"`
	Version string `json:"version" doc:"Version of the objects" example:"v1"`
	// Namespaced is false for cluster-scoped kinds.
	Namespaced bool `json:"namespaced" doc:"Whether the objects have a namespace"`
	// Actions are what the API can do with objects of the kind, as in the matrix of rights.
	Actions []string `json:"actions" nullable:"false" doc:"What the API can do with objects of the kind, for those who have the right: see /v1/rights"`
	// Watched kinds can be followed in a stream.
	Watched bool `json:"watched" doc:"Whether streams, the summary and the search have the kind"`
	// OnRequest kinds are only in streams that name them.
	OnRequest bool `json:"onRequest" doc:"Whether streams have the kind only if they name it, and the summary and the search never"`
	// Fields that lists select by without asking the API server.
	Fields []string `json:"fields" nullable:"false" doc:"Fields that a fieldSelector selects by from the cache; the API server may know more"`
	// Columns of a table.
	Columns []TableColumn `json:"columns" nullable:"false" doc:"Columns of a table of the kind, in order"`
}

// Info describes the kind, whose tables have these columns.
func (k *Kind) Info(columns []TableColumn) KindInfo {
	out := KindInfo{
		Name: k.Plural, Kind: k.GVK.Kind, Group: k.GVK.Group, Version: k.GVK.Version, Namespaced: k.Namespaced, Actions: []string{},
		Watched: !k.Uncached, OnRequest: k.Quiet, Fields: append([]string{fieldName, fieldNamespace}, selectable(k.GVK.Kind)...), Columns: columns,
	}
	for _, action := range k.Actions() {
		out.Actions = append(out.Actions, action.Name)
	}
	return out
}

// Document returns a schema and all that it refers to as one document of JSON Schema, in the form in which OpenAPI 3.1 has it.
func (s *Schemas) Document(root string) Schema {
	needed := Schema{}
	for _, name := range s.Needed(root) {
		needed[name] = s.ByName[name]
	}
	return Schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema", keyRef: refPrefix + root, "components": Schema{"schemas": needed},
	}
}
