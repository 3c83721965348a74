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

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// schemaHosts lists hosts.
const schemaHosts = "HostList"

// registerHosts registers the route that tells of the hosts of machines.
func (a *API) registerHosts() {
	a.routes.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[view.HostList](), true, schemaHosts)
	handle(a, huma.Operation{
		OperationID: "hosts", Method: http.MethodGet, Path: "/v1/hosts", Summary: "List the hosts of machines", Tags: []string{overviewTag},
		Description: "Hosts as the machines tell of them that the caller may list: how many machines they have, and of which size. The configuration of hosts, " +
			"their addresses, their capacity and what is wrong with them are known to the manager only.",
		Responses: answers(tagged(response("Hosts that have machines", mediaJSON, schemaHosts))),
	}, a.listHosts)
}

// listHosts sums up the machines that the caller may list.
func (a *API) listHosts(ctx context.Context, _ *Conditional) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	// Asked first: a right that is taken away meanwhile must not make a part look like all.
	scope, err := a.Rights.ScopeOf(ctx, who, &a.machines.Kind, "", "list")
	if err != nil {
		return nil, err
	}
	page, err := a.choose(ctx, a.machines, "", &ListInput{})
	if err != nil {
		return nil, err
	}
	leave, err := a.survey(ctx, who)
	if err != nil {
		return nil, err
	}
	defer leave()
	out, err := view.HostsOf(page.Items)
	if err != nil {
		return nil, err
	}
	out.Complete = scope.All
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("cannot encode hosts: %w", err)
	}
	made := encoded(mediaJSON, body)
	made.age = page.age
	return a.represent(made), nil
}
