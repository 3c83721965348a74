// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/usage"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

type usageInput struct {
	Target

	Hours int `query:"hours" minimum:"1" maximum:"168" doc:"Answer with the last hours, up to 180 points. Prometheus has what the gateway does not remember. The default is the last three hours, as the gateway remembers them"`
}

type poolUsageInput struct{ Target }

type usageOutput struct{ Body view.Usage }

// usageOf is how the usage of a kind is read.
type usageOf struct {
	kind  *feed.Kind
	about string
	// need returns the problem of a caller who may not read it.
	need func(ctx context.Context, who *access.Caller, of Target) error
	// members are the objects whose points are summed up.
	members func(ctx context.Context, of *view.Item) ([]types.UID, error)
	// past reads what is not in memory. Default: nil, for a kind that Prometheus does not know.
	past func(ctx context.Context, of *view.Item, in usage.Span) ([]usage.Point, error)
	// measured reports whether figures come.
	measured func() bool
}

// registerUsage registers the routes of what objects have used.
func (a *API) registerUsage() {
	itself := func(_ context.Context, of *view.Item) ([]types.UID, error) { return []types.UID{of.UID}, nil }
	metrics := &feed.Kind{Kind: view.NodeMetrics()}
	for _, of := range []usageOf{
		{
			kind: a.machines, members: itself, measured: func() bool { return true },
			past: func(ctx context.Context, of *view.Item, in usage.Span) ([]usage.Point, error) {
				return a.History.OfMachine(ctx, of.Namespace, of.Name, in)
			},
			about: "As the manager has written it into the status: when it has moved by ten points of a hundred, and every five minutes. It takes the right get on the machine.",
			need: func(ctx context.Context, who *access.Caller, of Target) error {
				return a.require(ctx, who, a.machines, view.Action{Verb: verbGet}, of)
			},
		},
		{
			kind: a.nodes, members: itself, measured: a.Usage.NodesAreMeasured,
			past: func(ctx context.Context, of *view.Item, in usage.Span) ([]usage.Point, error) {
				return a.History.OfNode(ctx, of.Name, in)
			},
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
		good := map[int]*huma.Response{http.StatusOK: {Description: "The usage now and in the last hours", Headers: carries(headerAge, headerWarning)}}
		op := operation(of.kind, "usage", http.MethodGet, "/v1/usage"+objectPath(of.kind, "")[len("/v1"):], "Read the usage of one, now and in the last hours", good)
		op.Description = of.about
		if of.past == nil {
			handle(a, op, func(ctx context.Context, in *poolUsageInput) (*usageOutput, error) {
				return a.usage(ctx, of, in.Target, 0)
			})
			continue
		}
		handle(a, op, func(ctx context.Context, in *usageInput) (*usageOutput, error) {
			return a.usage(ctx, of, in.Target, in.Hours)
		})
	}
}

// usage answers with what an object has used; with hours of zero, as it is remembered.
func (a *API) usage(ctx context.Context, of usageOf, target Target, hours int) (*usageOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := of.need(ctx, who, target); err != nil {
		return nil, err
	}
	item, err := a.usageItem(ctx, who, of.kind, target)
	if err != nil {
		return nil, err
	}
	members, err := of.members(ctx, item)
	if err != nil {
		return nil, err
	}
	out := &usageOutput{Body: view.Usage{
		Measured: of.measured(), IntervalSeconds: int(usage.Interval / time.Second), Series: []view.UsagePoint{},
	}}
	points := a.Usage.Series(a.Now(), members...)
	if hours > 0 {
		if points, err = a.usageSince(ctx, of, item, hours, points, &out.Body); err != nil {
			return nil, err
		}
	}
	for _, point := range points {
		out.Body.Series = append(out.Body.Series, view.UsagePoint(point))
	}
	if last := len(out.Body.Series) - 1; last >= 0 {
		out.Body.Current = &out.Body.Series[last]
	}
	return out, nil
}

// usageItem returns the object from the store, or else from the API server as the caller, because a store can be late or empty. A caller who may read what a
// node uses, but not the node itself, gets 404 if the store is up to date.
func (a *API) usageItem(ctx context.Context, who *access.Caller, k *feed.Kind, of Target) (*view.Item, error) {
	if item, exists := k.Store.Get(of.namespace, of.name); exists {
		a.madeFrom(ctx, k)
		return item, nil
	}
	item, err := a.itemOf(ctx, who, k, of.namespace, of.name)
	if _, _, known := k.Store.List(); known && isForbidden(err) {
		return nil, view.NewProblem(http.StatusNotFound, "NotFound", fmt.Sprintf("%s.%s %q not found", k.Plural, k.GVK.Group, of.name)).
			With(view.ParameterKind, k.Plural).With(view.ParameterGroup, k.GVK.Group).With(view.ParameterName, of.name)
	}
	return item, err
}

// usageSince returns the points of the last hours: those that are remembered and, from Prometheus, those from before.
func (a *API) usageSince(
	ctx context.Context, of usageOf, item *view.Item, hours int, remembered []usage.Point, into *view.Usage,
) ([]usage.Point, error) {
	span := usage.SpanSince(a.Now(), item.Created, hours)
	into.IntervalSeconds = int(span.Step / time.Second)
	remembered = span.Thin(remembered)
	before, missing := span.Before(remembered)
	if !missing {
		return remembered, nil
	}
	if a.History == nil {
		into.Incomplete = true
		return remembered, nil
	}
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	past, err := a.past(ctx, who, of, item, before, len(remembered) > 0)
	_, busy := errors.AsType[*view.Problem](err)
	switch {
	case err == nil:
		into.Measured = into.Measured || len(past) > 0
		return append(past, remembered...), nil
	case len(remembered) > 0: // better than nothing
		into.Incomplete = true
		return remembered, nil
	case busy:
		return nil, err
	}
	// The cause has the address of Prometheus, and is in the log.
	return nil, view.NewProblem(http.StatusBadGateway, "HistoryUnavailable",
		"Prometheus does not answer, and the gateway does not remember any figures. The log has the reason. Ask without hours, or again later.")
}

// past asks Prometheus when it is the caller's turn. A caller who has something else to show does not wait longer for the turn than Prometheus can take.
func (a *API) past(ctx context.Context, who *access.Caller, of usageOf, item *view.Item, in usage.Span, other bool) ([]usage.Point, error) {
	waiting := ctx
	if other {
		limited, cancel := context.WithTimeout(ctx, usage.HistoryTimeout)
		defer cancel()
		waiting = limited
	}
	leave, err := a.histories.Enter(waiting, who)
	if err != nil {
		return nil, err
	}
	defer leave()
	return of.past(ctx, item, in)
}

// membersOf returns the nodes that carry a member label of the pool.
func (a *API) membersOf(ctx context.Context, pool *view.Item) ([]types.UID, error) {
	items, _, _ := a.nodes.Store.List()
	a.madeFrom(ctx, a.nodes)
	var out []types.UID
	for _, node := range items {
		if hasJoined(node, pool.Name) {
			out = append(out, node.UID)
		}
	}
	return out, nil
}
