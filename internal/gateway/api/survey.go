// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"

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

// survey waits for the caller's turn to read all nodes or pods, which leave ends. What their rights refuse is refused before that: a caller without
// any keeps nobody waiting.
func (a *API) survey(ctx context.Context, who *access.Caller) (leave func(), err error) {
	return a.surveys.Enter(ctx, who)
}

// unlisted returns, as a part of a sentence, that the caller may not list the kind; empty if they may. An error means that nobody knows.
func (a *API) unlisted(ctx context.Context, who *access.Caller, k *feed.Kind, namespace string) (string, error) {
	allowed, err := a.Rights.May(ctx, who, &k.Kind, namespace, "", "list")
	switch {
	case allowed || err != nil:
		return "", err
	case namespace != "":
		return "you may not list " + k.Plural + " in namespace " + namespace, nil
	case k.Namespaced:
		return "you may not list " + k.Plural + " in all namespaces", nil
	default:
		return "you may not list " + k.Plural, nil
	}
}

// all returns all objects of the kind, in the namespace if one is given; or, as a part of a sentence, that the caller may not list
// them. An error means that nobody knows. Nothing tells of objects that the caller may not list, not even their number.
func (a *API) all(ctx context.Context, who *access.Caller, k *feed.Kind, namespace string) ([]*view.Item, string, error) {
	because, err := a.unlisted(ctx, who, k, namespace)
	if because != "" || err != nil {
		return nil, because, err
	}
	if items, _, ok := k.Store.List(); ok && !k.Store.Owes() {
		a.madeFrom(ctx, k)
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
