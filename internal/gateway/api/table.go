// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/table"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// tableInput is the input of a table.
type tableInput struct {
	Selection

	Kind      string `path:"kind" maxLength:"63" doc:"Kind, as in the routes"`
	Namespace string `query:"ns" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace. The default is all that the caller may list"`
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

// newPrinters returns the printers of the kinds whose tables are made from the store.
func newPrinters(kinds []*feed.Kind) (map[*feed.Kind]*table.Printer, error) {
	columns, err := table.Columns()
	if err != nil {
		return nil, err
	}
	out := map[*feed.Kind]*table.Printer{}
	for _, k := range kinds {
		if k.Uncached {
			continue
		}
		if out[k], err = table.NewPrinter(&k.Kind, columns[k.Plural]); err != nil {
			return nil, fmt.Errorf("cannot print %s: %w", k.Plural, err)
		}
	}
	return out, nil
}

// table answers with the columns of kubectl get, from the store where the kind has one.
func (a *API) table(ctx context.Context, in *tableInput) (*huma.StreamResponse, error) {
	k, known := a.Hub.Kind(in.Kind)
	if !known {
		return nil, notFound()
	}
	if in.Namespace != "" && !k.Namespaced {
		return nil, fieldErrors(&view.FieldError{Location: locationNamespace, Message: "does not apply to " + k.Plural + ", which have no namespace"})
	}
	fields, err := in.projection()
	if err != nil {
		return nil, err
	}
	printer := a.printers[k]
	if printer == nil {
		return a.serverTable(ctx, k, in, fields)
	}
	page, err := a.choose(ctx, k, in.Namespace, &ListInput{Selection: in.Selection})
	if err != nil {
		return nil, err
	}
	made, err := printer.New(page.version, page.Page, a.Now(), fields)
	if err != nil {
		return nil, err
	}
	return a.represent(&representation{
		media: mediaJSON, tag: fields.Tag(made.Tag()), size: made.Size(), write: made.Write, age: page.age, uncompressed: k.Uncompressed,
	}), nil
}

// serverTable returns the table of the API server, with its columns and pages.
func (a *API) serverTable(ctx context.Context, k *feed.Kind, in *tableInput, fields *view.Projection) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := in.passable(k); err != nil {
		return nil, err
	}
	query := url.Values{}
	setIf(query, "labelSelector", in.LabelSelector)
	setIf(query, "fieldSelector", in.FieldSelector)
	setIf(query, "continue", in.Continue)
	if in.Limit > 0 {
		query.Set("limit", strconv.Itoa(in.Limit))
	}
	leave, err := enter(ctx, a.lists)
	if err != nil {
		return nil, err
	}
	defer leave()
	var merged map[string]json.RawMessage
	var rows []json.RawMessage
	left := maxList
	err = a.eachNamespace(ctx, who, k, in.Namespace, func(within string) error {
		if within != in.Namespace { // merged lists have no pages, because each has a continue token of its own
			query.Del("limit")
			query.Del("continue")
		}
		answer, err := a.Upstream.Do(ctx, who, access.Call{
			Method: http.MethodGet, Path: k.Path(within, "", ""), Query: query, Accept: mediaTable + "," + mediaJSON, Most: max(1, left),
		})
		if err != nil {
			return unlessTooLong(err)
		}
		left -= len(answer.Body)
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
	for i := range rows {
		rows[i] = fields.Row(rows[i])
	}
	if merged["rows"], err = json.Marshal(rows); err != nil {
		return nil, err
	}
	body, err := json.Marshal(merged)
	if err != nil {
		return nil, err
	}
	return a.object(k, mediaJSON, body, fields, 0), nil
}

// passable returns the problem of parameters that the API server does not have.
func (in *tableInput) passable(k *feed.Kind) error {
	for parameter, given := range map[string]bool{"q": in.Search != "", "owner": in.Owner != "", "sort": in.Sort != view.SortName} {
		if given {
			return fieldErrors(&view.FieldError{
				Location: "query." + parameter, Message: "does not apply to tables of " + k.Plural + ", which the API server makes",
			})
		}
	}
	return nil
}
