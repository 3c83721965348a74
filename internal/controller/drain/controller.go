// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
)

// recheckPods is when to look again at the pods of a node that is being drained.
const recheckPods = 5 * time.Second

// Reconciler drains one node.
type Reconciler struct {
	client   client.Client
	live     client.Reader
	evict    kube.Evict
	recorder event.Recorder
	drains   *clearance.Drains
	requests requests
	now      func() time.Time
}

// New returns a reconciler that reads nodes and pools through c, and through live, past every cache, pods and what it evicts them for. Progress is reported to
// drains, where the pool controller finds it.
func New(
	c client.Client, live client.Reader, evict kube.Evict, recorder event.Recorder, drains *clearance.Drains, now func() time.Time,
) *Reconciler {
	return &Reconciler{client: c, live: live, evict: evict, recorder: recorder, drains: drains, now: now}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	seen, err := r.observe(ctx, request.Name)
	if err != nil {
		return flow.Fail(err).Result()
	}
	r.requests.keep(request.Name, seen.drains, seen.pods)
	again := false
	for _, step := range plan(seen, r.now()) {
		if err := r.act(ctx, step); err != nil {
			return flow.Fail(err).Result()
		}
		again = again || !step.progress.Done
	}
	if !again {
		return reconcile.Result{}, nil
	}
	return flow.LookAgain(recheckPods), nil
}
