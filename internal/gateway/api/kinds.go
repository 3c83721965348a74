// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/table"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const kindsTag = "kinds"

type kindInput struct {
	Conditional

	Kind string `path:"kind" maxLength:"63" doc:"Kind, as in the routes"`
}

// registerKinds registers the routes that describe kinds. They are the same for every caller.
func (a *API) registerKinds() {
	components := a.routes.OpenAPI().Components.Schemas
	components.Schema(reflect.TypeFor[view.KindList](), true, schemaKinds)
	handle(a, huma.Operation{
		OperationID: "kinds", Method: http.MethodGet, Path: "/v1/kinds", Summary: "List the kinds that the API serves", Tags: []string{kindsTag},
		Responses: answers(tagged(response("The kinds", mediaJSON, schemaKinds))),
	}, a.listKinds)
	document := tagged(&huma.Response{Description: "The schema", Content: map[string]*huma.MediaType{
		mediaSchema: {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
	}})
	handle(a, huma.Operation{
		OperationID: "kind-schema", Method: http.MethodGet, Path: "/v1/kinds/{kind}/schema", Summary: "Read the schema of a kind, for an editor",
		Tags: []string{kindsTag}, Responses: answers(document),
		Description: "A document of JSON Schema with the schema of an object as it is written, and all schemas that it refers to. For kinds that the " +
			"API does not write it is the schema of an object as it is read.",
		Parameters: []*huma.Param{{
			Name: "kind", In: "path", Required: true, Description: "Kind, as in the routes", Schema: ref(schemaKind), Example: view.DeploymentsPlural,
		}},
	}, a.kindSchema)
}

// listKinds answers with the table of kinds.
func (a *API) listKinds(context.Context, *struct{ Conditional }) (*huma.StreamResponse, error) {
	known, err := table.Columns()
	if err != nil {
		return nil, err
	}
	out := view.KindList{Version: a.Version}
	for _, k := range a.Hub.Kinds {
		out.Kinds = append(out.Kinds, k.Info(known[k.Plural]))
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the kinds: %w", err)
	}
	return a.represent(encoded(mediaJSON, body)), nil
}

// kindSchema answers with the schema of a kind. It is built for every request: an editor asks once, and all documents together would
// take megabytes.
func (a *API) kindSchema(_ context.Context, in *kindInput) (*huma.StreamResponse, error) {
	k, known := a.Hub.Kind(in.Kind)
	if !known {
		return nil, notFound()
	}
	all, err := schemas(a.Hub.Kinds)
	if err != nil {
		return nil, err
	}
	root := k.GVK.Kind
	if k.Access == view.AccessFull {
		root = schemaInput(k)
	}
	body, err := json.Marshal((&view.Schemas{ByName: all}).Document(root))
	if err != nil {
		return nil, fmt.Errorf("cannot encode the schema of %s: %w", k.Plural, err)
	}
	return a.represent(encoded(mediaSchema, body)), nil
}
