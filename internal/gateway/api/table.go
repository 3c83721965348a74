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

	"github.com/danielgtaylor/huma/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	var head map[string]json.RawMessage
	var rows [][]byte
	held := heldOf(ctx)
	err = a.eachNamespace(ctx, who, k, in.Namespace, func(within string) error {
		query, want := url.Values{}, 0
		setIf(query, "labelSelector", in.LabelSelector)
		setIf(query, "fieldSelector", in.FieldSelector)
		if within == in.Namespace { // merged lists have no pages, because each has a continue token of its own
			setIf(query, "continue", in.Continue)
			want = in.Limit
		}
		call := access.Call{Method: http.MethodGet, Path: k.Path(within, "", ""), Query: query, Accept: mediaTable + "," + mediaJSON}
		return a.inParts(ctx, who, call, want, func(part []byte) (int, string, error) {
			var list metav1.ListMeta
			var own []json.RawMessage
			head = nil
			if err := json.Unmarshal(part, &head); err != nil {
				return 0, "", err
			}
			if err := errors.Join(json.Unmarshal(head["metadata"], &list), json.Unmarshal(head["rows"], &own)); err != nil {
				return 0, "", err
			}
			for _, row := range own {
				rows = append(rows, fields.Row(row))
				if err := held.Take(len(rows[len(rows)-1])); err != nil {
					return 0, "", err
				}
			}
			return len(own), list.Continue, nil
		})
	})
	if err != nil {
		return nil, err
	}
	made, err := view.NewRows(head, rows)
	if err != nil {
		return nil, err
	}
	return a.represent(&representation{
		media: mediaJSON, tag: fields.Tag(made.Tag()), size: made.Size(), write: made.Write, uncompressed: k.Uncompressed,
	}), nil
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
