// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// Reconciler keeps PodSets.
type Reconciler struct {
	client   client.Client
	recorder event.Recorder
	now      func() time.Time
	refused  refusals
}

// New returns a Reconciler. Reads of c come from a cache with the indexes of AddIndexes and of
// membership.AddIndexes, and wait for c's own writes.
func New(c client.Client, recorder event.Recorder, now func() time.Time) *Reconciler {
	return &Reconciler{client: c, recorder: recorder, now: now}
}

// scope is what one pass over one PodSet knows.
type scope struct {
	// podSet is the object as read; its status becomes what the pass observed.
	podSet *appsv1alpha1.PodSet
	// before is the object as read, for the difference that is written and for the events.
	before *appsv1alpha1.PodSet
	// seen is what was observed, nil until observe has succeeded.
	seen *observation
	// decision is what the pass has to do.
	decision decision
	// events tell what the pass did.
	events []event.Event
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
	var podSet appsv1alpha1.PodSet
	if err := r.client.Get(ctx, req.NamespacedName, &podSet); err != nil {
		r.refused.forget(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !podSet.DeletionTimestamp.IsZero() {
		// The garbage collector takes the children. Creating one now would only give it more to collect.
		return reconcile.Result{}, nil
	}

	pass := &scope{podSet: &podSet, before: podSet.DeepCopy()}
	var outcome flow.Outcome
	defer func() {
		outcome = outcome.Join(r.finish(ctx, pass, outcome))
		result, err = outcome.Result()
	}()
	outcome = flow.Run(ctx, pass,
		flow.Phase[*scope]{Name: "observe what belongs to the PodSet", Run: r.observe},
		flow.Phase[*scope]{Name: "plan what belongs to the PodSet", Run: decide},
		flow.Phase[*scope]{Name: "write what belongs to the PodSet", Run: r.act},
		flow.Phase[*scope]{Name: "follow the rollout", Run: follow},
	)
	return result, err
}

// finish writes the status where the pass changed it, and only then tells the events: they say what happened, and a pass
// whose status write failed happens again.
func (r *Reconciler) finish(ctx context.Context, pass *scope, outcome flow.Outcome) error {
	describe(pass.podSet, pass.seen, pass.decision, outcome, r.now())
	pass.events = append(pass.events, transitions(pass.before, pass.podSet)...)
	pass.events = append(pass.events, explained(pass)...)
	if _, err := patch.Status(ctx, r.client, pass.before, pass.podSet); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.recorder.Record(pass.events...)
	return nil
}

// decide is the phase around plan.
func decide(_ context.Context, pass *scope) flow.Outcome {
	decision, err := plan(pass.podSet, *pass.seen)
	pass.decision = decision
	return flow.Fail(err)
}

// follow is the phase around explain and rollout.
func follow(_ context.Context, pass *scope) flow.Outcome {
	pass.seen.cause = explain(pass.podSet, *pass.seen)
	return rollout(pass.podSet, *pass.seen)
}
