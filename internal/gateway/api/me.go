// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

type meOutput struct{ Body view.Me }

func (a *API) registerMe() {
	handle(a, huma.Operation{
		OperationID: "me", Method: http.MethodGet, Path: "/v1/me", Summary: "Who calls, and in which namespaces they may list something",
		Tags: []string{"me"}, Responses: answers(map[int]*huma.Response{http.StatusOK: {Description: "The caller", Headers: carries()}}),
	}, a.me)
}

func (a *API) me(ctx context.Context, _ *struct{}) (*meOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	out := &meOutput{Body: view.Me{User: who.User.GetName(), Groups: who.User.GetGroups(), Session: who.Session, Namespaces: []string{}}}
	if out.Body.Groups == nil {
		out.Body.Groups = []string{}
	}
	out.Body.AllNamespaces, err = a.Rights.May(ctx, who, &a.namespaces.Kind, "", "", "list")
	if err != nil {
		return nil, err
	}
	if out.Body.AllNamespaces {
		return out, nil
	}
	visible, err := a.Rights.Visible(ctx, who)
	if err != nil {
		return nil, err
	}
	out.Body.Namespaces = append(out.Body.Namespaces, visible.Names()...)
	return out, nil
}
