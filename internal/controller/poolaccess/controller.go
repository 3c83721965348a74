// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/flow"
)

// Reconciler writes the admission policies and bindings of one pool, or those that all pools share.
type Reconciler struct {
	client client.Client
	live   client.Reader
	// namespace is the operator's, empty if it runs outside of a cluster.
	namespace string
}

// New returns a reconciler that reads and writes through c, whose reads have to wait for its own writes. Live reads past every cache.
// Namespace is the operator's, whose pods no policy matches. It is empty if the operator runs outside of a cluster.
func New(c client.Client, live client.Reader, namespace string) *Reconciler {
	return &Reconciler{client: c, live: live, namespace: namespace}
}

// scope is what one pass works on.
type scope struct {
	// name is the pool's name, or sharedKey.
	name string
	// seen is set by observe.
	seen observation
	// plan is set by decide.
	plan plan
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{name: request.Name}
	outcome := flow.Run(ctx, s,
		flow.Phase[*scope]{Name: "observe the admission policies", Run: r.observe},
		flow.Phase[*scope]{Name: "plan the admission policies", Run: decide},
		flow.Phase[*scope]{Name: "confirm the pools", Run: r.confirm},
		flow.Phase[*scope]{Name: "delete admission policies", Run: r.remove},
		flow.Phase[*scope]{Name: "write the admission policies", Run: r.write},
	)
	return outcome.Join(r.note(ctx, s, outcome)).Result()
}

// decide sets the plan of the pass.
func decide(_ context.Context, s *scope) flow.Outcome {
	s.plan = newPlan(s.name, s.seen)
	return flow.Done()
}
