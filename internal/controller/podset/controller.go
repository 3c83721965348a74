// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
)

// Reconciler reconciles PodSets.
type Reconciler struct {
	*flow.Lifecycle[*appsv1alpha1.PodSet, *scope]

	client client.Client
	now    func() time.Time
	// namespace is the one that the manager runs in, empty outside of a cluster.
	namespace string
	refused   refusals
	futile    futile
	// retried is when a ReplicaSet was last made to try again.
	retried flow.Times
}

// New returns a Reconciler. Reads of c come from a cache with the indexes of AddIndexes and of kube.IndexNodes, and wait for the writes
// of c. Live reads past every cache. The namespace is the one that the manager runs in, empty outside of a cluster.
func New(c client.Client, live client.Reader, recorder event.Recorder, now func() time.Time, namespace string) *Reconciler {
	r := &Reconciler{client: c, now: now, namespace: namespace}
	r.Lifecycle = &flow.Lifecycle[*appsv1alpha1.PodSet, *scope]{
		Client: c, Live: live, Recorder: recorder, Now: now,
		New:      func() *appsv1alpha1.PodSet { return &appsv1alpha1.PodSet{} },
		Begin:    func(pass *flow.Pass[*appsv1alpha1.PodSet]) *scope { return &scope{Pass: pass} },
		Phases:   r.phases,
		Describe: describe,
		Announce: announcements(),
		Underway: []string{
			appsv1alpha1.ReasonDeploymentPending, appsv1alpha1.ReasonRollingOut, appsv1alpha1.ReasonMinimumReplicasUnavailable,
		},
		Forget: r.forget,
	}
	return r
}

// scope is what one pass over one PodSet knows.
type scope struct {
	*flow.Pass[*appsv1alpha1.PodSet]

	// seen is what was observed, nil until observe has succeeded.
	seen *observation
	// decision is what the pass has to do.
	decision decision
}

// phases returns the steps of a pass. A PodSet that is being deleted gets none: the garbage collector removes the children.
func (r *Reconciler) phases(*scope) []flow.Phase[*scope] {
	return []flow.Phase[*scope]{
		{Name: "observe what belongs to the PodSet", Run: r.observe},
		{Name: "plan what belongs to the PodSet", Run: decide},
		{Name: "write what belongs to the PodSet", Run: r.act},
		{Name: "follow the rollout", Run: follow},
	}
}

// decide is the phase around plan.
func decide(_ context.Context, pass *scope) flow.Outcome {
	decision, err := plan(pass.Object, *pass.seen)
	pass.decision = decision
	pass.LookAgain(decision.again)
	return flow.Fail(err)
}

// follow is the phase around explain and rollout.
func follow(_ context.Context, pass *scope) flow.Outcome {
	pass.seen.cause = explain(pass.Object, *pass.seen)
	return rollout(pass.Object, *pass.seen)
}

// forget drops what is kept about a PodSet that is gone.
func (r *Reconciler) forget(_ context.Context, key client.ObjectKey) error {
	r.refused.forget(key)
	r.futile.forget(key)
	r.retried.Drop(key)
	return nil
}
