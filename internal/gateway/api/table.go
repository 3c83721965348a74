// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// tableInput is the input of a table.
type tableInput struct {
	Conditional

	Kind          string `path:"kind" maxLength:"63" doc:"Kind, as in the routes"`
	Namespace     string `query:"ns" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace. The default is all that the caller may list"`
	Limit         int    `query:"limit" minimum:"0" maximum:"10000" doc:"Maximum number of rows. metadata.continue of the answer gets the next page"`
	Continue      string `query:"continue" maxLength:"8192" doc:"metadata.continue of the previous page"`
	LabelSelector string `query:"labelSelector" maxLength:"4096" doc:"Label selector, as in kubectl: app=web,tier!=test"`
	FieldSelector string `query:"fieldSelector" maxLength:"4096" doc:"Field selector, as in kubectl: metadata.name=web"`
}

// registerTables registers the route of tables, which have the same format for all kinds.
func (a *API) registerTables() {
	a.routes.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[view.Table](), true, schemaTable)
	handle(a, huma.Operation{
		OperationID: "table", Method: http.MethodGet, Path: "/v1/tables/{kind}", Summary: "List objects with the columns of kubectl get",
		Tags: []string{"tables"}, Responses: answers(tagged(response("The table", mediaJSON, schemaTable))),
		Parameters: []*huma.Param{{
			Name: "kind", In: "path", Required: true, Description: "Kind, as in the routes", Schema: ref(schemaKind), Example: view.DeploymentsPlural,
		}},
	}, a.table)
}

// table returns the table of the API server, with its columns and pages.
func (a *API) table(ctx context.Context, in *tableInput) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	k, known := a.Hub.Kind(in.Kind)
	if !known {
		return nil, notFound()
	}
	namespace := in.Namespace
	if namespace != "" && !k.Namespaced {
		return nil, fieldErrors(&view.FieldError{Location: locationNamespace, Message: "does not apply to " + k.Plural + ", which have no namespace"})
	}
	query := url.Values{}
	setIf(query, "labelSelector", in.LabelSelector)
	setIf(query, "fieldSelector", in.FieldSelector)
	setIf(query, "continue", in.Continue)
	if in.Limit > 0 {
		query.Set("limit", strconv.Itoa(in.Limit))
	}
	var merged map[string]json.RawMessage
	var rows []json.RawMessage
	err = a.eachNamespace(ctx, who, k, namespace, func(within string) error {
		if within != namespace { // merged lists have no pages, because each has a continue token of its own
			query.Del("limit")
			query.Del("continue")
		}
		answer, err := a.Upstream.Do(ctx, who, access.Call{
			Method: http.MethodGet, Path: k.Path(within, "", ""), Query: query, Accept: mediaTable + "," + mediaJSON,
		})
		if err != nil {
			return err
		}
		var part []json.RawMessage
		merged = nil
		if err := errors.Join(json.Unmarshal(answer.Body, &merged), json.Unmarshal(merged["rows"], &part)); err != nil {
			return err
		}
		rows = append(rows, part...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if rows == nil {
		rows = []json.RawMessage{}
	}
	if merged["rows"], err = json.Marshal(rows); err != nil {
		return nil, err
	}
	body, err := json.Marshal(merged)
	if err != nil {
		return nil, err
	}
	return a.object(k, mediaJSON, body, 0), nil
}
