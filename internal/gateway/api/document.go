// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Names of schemas.
const (
	schemaObject  = "KubernetesObject"
	schemaList    = "KubernetesList"
	schemaTable   = "KubernetesTable"
	schemaProblem = "Problem"
)

// fieldKind is the name of the field with the kind.
const fieldKind = "kind"

// Media types.
const (
	mediaJSON    = "application/json"
	mediaYAML    = "application/yaml"
	mediaProblem = "application/problem+json"
	mediaTable   = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// describe adds what all routes share to the description of the API.
func describe(api *huma.OpenAPI) {
	api.Info.Description = "The HTTP API of Windlass for consoles and scripts. Every request has the caller's own rights. Kubernetes " +
		"objects have the format of the API server, which validates them. managedFields are left out unless you ask for them."
	api.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "A token that the API server accepts"},
	}
	api.Security = []map[string][]string{{"bearer": {}}}
	schemas := api.Components.Schemas
	schemas.Schema(reflect.TypeFor[view.Problem](), true, schemaProblem)
	text := &huma.Schema{Type: huma.TypeString}
	object := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	schemas.Map()[schemaObject] = &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true, Description: "A Kubernetes object in the format of the API server",
		Properties: map[string]*huma.Schema{"apiVersion": text, fieldKind: text, "metadata": object},
		Required:   []string{"apiVersion", fieldKind, "metadata"},
	}
	schemas.Map()[schemaList] = &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true, Description: "A list in the format of the API server",
		Properties: map[string]*huma.Schema{
			"apiVersion": text, fieldKind: text,
			"metadata": {
				Type: huma.TypeObject, AdditionalProperties: true,
				Properties: map[string]*huma.Schema{
					"resourceVersion": text, "continue": text, "remainingItemCount": {Type: huma.TypeInteger},
				},
			},
			"items": {Type: huma.TypeArray, Items: ref(schemaObject)},
		},
		Required: []string{"apiVersion", fieldKind, "metadata", "items"},
	}
	schemas.Map()[schemaTable] = &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true, Description: "A list with the columns of kubectl get",
		Properties: map[string]*huma.Schema{
			fieldKind:           {Type: huma.TypeString, Enum: []any{"Table"}},
			"columnDefinitions": {Type: huma.TypeArray, Items: object}, "rows": {Type: huma.TypeArray, Items: object},
		},
		Required: []string{fieldKind, "columnDefinitions", "rows"},
	}
	for _, schema := range schemas.Map() {
		schema.PrecomputeMessages()
	}
}

func ref(name string) *huma.Schema { return &huma.Schema{Ref: "#/components/schemas/" + name} }

// answers describes the answers of a route: its good ones, and the problems that all routes have.
func answers(good map[int]*huma.Response) map[string]*huma.Response {
	out := map[string]*huma.Response{}
	for _, code := range []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusGone,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout,
	} {
		out[strconv.Itoa(code)] = response(http.StatusText(code), mediaProblem, schemaProblem)
	}
	out["default"] = response("Any other problem", mediaProblem, schemaProblem)
	for code, what := range good {
		out[strconv.Itoa(code)] = what
	}
	return out
}

// response describes one answer: pairs of media type and schema.
func response(about string, mediaAndSchema ...string) *huma.Response {
	out := &huma.Response{Description: about, Content: map[string]*huma.MediaType{}}
	for i := 0; i+1 < len(mediaAndSchema); i += 2 {
		out.Content[mediaAndSchema[i]] = &huma.MediaType{Schema: ref(mediaAndSchema[i+1])}
	}
	return out
}

// Document returns the description of the API in the format in which it is served and committed.
func Document(api *huma.OpenAPI) ([]byte, error) {
	raw, err := json.Marshal(api)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the description of the API: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", " "); err != nil {
		return nil, fmt.Errorf("cannot indent the description of the API: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
