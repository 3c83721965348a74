// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"slices"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/why"
)

// registerOwners registers the routes that explain what owns pods without a Deployment.
func (a *API) registerOwners(kind func(plural string) *feed.Kind) {
	registerExplanation(a, kind("replicasets"), ofPods(a, why.ReplicaSet))
	registerExplanation(a, kind("statefulsets"), ofPods(a, why.StatefulSet))
	registerExplanation(a, kind("daemonsets"), ofPods(a, why.DaemonSet))
	registerExplanation(a, kind("jobs"), ofPods(a, why.Job))
}

// ofPods returns the explainer of a kind that owns its pods itself: it adds the explanation of one of them.
func ofPods[T any, O objectPointer[T]](a *API, explain func(*T) *why.Explanation) explainer[T] {
	return func(ctx context.Context, who *access.Caller, object *T) (*why.Explanation, error) {
		out, of := explain(object), O(object)
		return out, a.explainPodOf(ctx, who, out, of.GetNamespace(), func(item *view.Item) bool {
			return slices.Contains(item.Owners, of.GetUID())
		})
	}
}
