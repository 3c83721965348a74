// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	// maxSurveys is how many requests read all nodes or pods at the same time: each takes a processor for a moment.
	maxSurveys = 2
	// healthy is the state of an object that works.
	healthy = view.HealthReady
	// Kinds that explanations ask for.
	poolsPlural, nodesPlural = "nodepools", "nodes"
)

// survey waits for a slot to read all nodes or pods, which the caller leaves.
func (a *API) survey(ctx context.Context) (leave func(), err error) { return enter(ctx, a.surveys) }

// all returns all objects of the kind, in the namespace if one is given; or, as a part of a sentence, that the caller may not list
// them. An error means that nobody knows. Nothing tells of objects that the caller may not list, not even their number.
func (a *API) all(ctx context.Context, who *access.Caller, k *feed.Kind, namespace string) ([]*view.Item, string, error) {
	allowed, err := a.Rights.May(ctx, who, &k.Kind, namespace, "", "list")
	if err != nil {
		return nil, "", err
	}
	if !allowed {
		within := ""
		switch {
		case namespace != "":
			within = " in namespace " + namespace
		case k.Namespaced:
			within = " in all namespaces"
		}
		return nil, "you may not list " + k.Plural + within, nil
	}
	if items, _, ok := k.Store.List(); ok && !k.Store.Owes() {
		if namespace != "" {
			items = view.Within(items, []string{namespace})
		}
		return items, "", nil
	}
	list, err := a.listLive(ctx, who, k, namespace, &ListInput{})
	if err != nil {
		return nil, "", err
	}
	return list.Items, "", nil
}

// decoded returns an item as an object, or as the part of it that is needed.
func decoded[T any](item *view.Item) (*T, error) {
	out := new(T)
	if err := json.Unmarshal(item.JSON, out); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", item.Key(), err)
	}
	return out, nil
}
