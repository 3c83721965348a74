// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/usage"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

type usageInput struct{ Target }

type usageOutput struct{ Body view.Usage }

// usageOf is how the usage of a kind is read.
type usageOf struct {
	kind  *feed.Kind
	about string
	// need returns the problem of a caller who may not read it.
	need func(ctx context.Context, who *access.Caller, of Target) error
	// members are the objects whose points are summed up.
	members func(of *view.Item) ([]types.UID, error)
	// measured reports whether figures come.
	measured func() bool
}

// registerUsage registers the routes of what objects have used.
func (a *API) registerUsage() {
	itself := func(of *view.Item) ([]types.UID, error) { return []types.UID{of.UID}, nil }
	metrics := &feed.Kind{Kind: view.NodeMetrics()}
	for _, of := range []usageOf{
		{
			kind: a.machines, members: itself, measured: func() bool { return true },
			about: "As the manager has written it into the status: when it has moved by ten points of a hundred, and every five minutes. It takes the right get on the machine.",
			need: func(ctx context.Context, who *access.Caller, of Target) error {
				return a.require(ctx, who, a.machines, view.Action{Verb: verbGet}, of)
			},
		},
		{
			kind: a.nodes, members: itself, measured: a.Usage.NodesAreMeasured,
			about: "As metrics.k8s.io has it, where it is served. It takes the right get on nodes.metrics.k8s.io, as kubectl top does.",
			need: func(ctx context.Context, who *access.Caller, of Target) error {
				return a.require(ctx, who, metrics, view.Action{Verb: verbGet}, of)
			},
		},
		{
			kind: a.pools, members: a.membersOf, measured: a.Usage.NodesAreMeasured,
			about: "The sum of the nodes that are members now. It takes the rights get on the pool and list on nodes.metrics.k8s.io.",
			need: func(ctx context.Context, who *access.Caller, of Target) error {
				if err := a.require(ctx, who, a.pools, view.Action{Verb: verbGet}, of); err != nil {
					return err
				}
				return a.require(ctx, who, metrics, view.Action{Verb: "list"}, Target{})
			},
		},
	} {
		good := map[int]*huma.Response{http.StatusOK: {Description: "The usage now and in the last hours", Headers: carries()}}
		op := operation(of.kind, "usage", http.MethodGet, "/v1/usage"+objectPath(of.kind, "")[len("/v1"):], "Read the usage of one, now and in the last hours", good)
		op.Description = of.about
		handle(a, op, func(ctx context.Context, in *usageInput) (*usageOutput, error) { return a.usage(ctx, of, in.Target) })
	}
}

// usage answers with what an object has used.
func (a *API) usage(ctx context.Context, of usageOf, target Target) (*usageOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := of.need(ctx, who, target); err != nil {
		return nil, err
	}
	item, exists := of.kind.Store.Get(target.namespace, target.name)
	if !exists {
		return nil, view.NewProblem(http.StatusNotFound, "NotFound", fmt.Sprintf("%s.%s %q not found", of.kind.Plural, of.kind.GVK.Group, target.name)).
			With(view.ParameterKind, of.kind.Plural).With(view.ParameterGroup, of.kind.GVK.Group).With(view.ParameterName, target.name)
	}
	members, err := of.members(item)
	if err != nil {
		return nil, err
	}
	out := &usageOutput{Body: view.Usage{
		Measured: of.measured(), IntervalSeconds: int(usage.Interval / time.Second), Series: []view.UsagePoint{},
	}}
	for _, point := range a.Usage.Series(a.Now(), members...) {
		out.Body.Series = append(out.Body.Series, view.UsagePoint(point))
	}
	if last := len(out.Body.Series) - 1; last >= 0 {
		out.Body.Current = &out.Body.Series[last]
	}
	return out, nil
}

// membersOf returns the nodes that carry the label of the pool.
func (a *API) membersOf(item *view.Item) ([]types.UID, error) {
	var pool nodesv1.NodePool
	if err := json.Unmarshal(item.JSON, &pool); err != nil {
		return nil, fmt.Errorf("cannot read NodePool %q: %w", item.Name, err)
	}
	label := pool.MemberLabel()
	items, _, _ := a.nodes.Store.List()
	var out []types.UID
	for _, node := range items {
		if _, member := node.Labels[label]; member {
			out = append(out, node.UID)
		}
	}
	return out, nil
}
