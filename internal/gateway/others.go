// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

type meOutput struct{ Body view.Me }

func (g *Gateway) registerOthers() {
	register(g, huma.Operation{
		OperationID: "me", Method: http.MethodGet, Path: "/v1/me", Summary: "Who calls, and where he may see something",
		Tags: []string{"me"}, Responses: answers(map[int]*huma.Response{http.StatusOK: {Description: "The caller"}}),
	}, g.me)
	register(g, huma.Operation{
		OperationID: "watch", Method: http.MethodGet, Path: watchPath, Summary: "Follow objects as a stream of events", Tags: []string{"watch"},
		Description: "Events: snapshot (kind, items, more; at the end done), upsert (kind, object), delete (kind, namespace, name, uid), " +
			"resync (forget everything, a snapshot follows), denied (kind, namespaces; null for all), expired (the token; the stream " +
			"ends). A comment comes when nothing else does.",
		Responses: answers(map[int]*huma.Response{http.StatusOK: {
			Description: "Events", Content: map[string]*huma.MediaType{feed.MediaType: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}}),
	}, g.watch)
	schemas := g.api.OpenAPI().Components.Schemas.Map()
	// What huma would answer errors with; every error is turned into a Problem.
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
}

func (g *Gateway) me(ctx context.Context, _ *struct{}) (*meOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	out := &meOutput{Body: view.Me{User: who.User.GetName(), Groups: who.User.GetGroups(), Session: who.Session, Namespaces: []string{}}}
	if out.Body.Groups == nil {
		out.Body.Groups = []string{}
	}
	// In doubt he may not.
	if out.Body.AllNamespaces, _ = g.rights.May(ctx, who, &g.namespaces.Kind, "", "", "list"); !out.Body.AllNamespaces {
		out.Body.Namespaces = append(out.Body.Namespaces, g.rights.Visible(ctx, who).Names()...)
	}
	return out, nil
}
