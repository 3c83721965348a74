// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"context"
	"maps"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
)

// Reconciler reconciles PodBuggerTools.
type Reconciler struct {
	*flow.Lifecycle[*appsv1alpha1.PodBuggerTool, *scope]

	client client.Client
	direct client.Client
	pods   podSource
	now    func() time.Time
	memory memory
}

// New returns a Reconciler that reads tools from c and pods from the source. Reads of c come from a cache and wait for the writes of
// c. Pods are written with direct, which must not do so: the manager's cache holds only some pods, and would wait for the others
// forever. It reads past every cache, too.
func New(c, direct client.Client, pods podSource, recorder event.Recorder, now func() time.Time) *Reconciler {
	r := &Reconciler{client: c, direct: direct, pods: pods, now: now}
	r.Lifecycle = &flow.Lifecycle[*appsv1alpha1.PodBuggerTool, *scope]{
		Client: c, Live: direct, Recorder: recorder, Now: now,
		New: func() *appsv1alpha1.PodBuggerTool { return &appsv1alpha1.PodBuggerTool{} },
		Begin: func(pass *flow.Pass[*appsv1alpha1.PodBuggerTool]) *scope {
			return &scope{Pass: pass, refused: make(map[string]error)}
		},
		Phases:   r.phases,
		Describe: describe,
		Announce: announcements(),
		Forget:   r.forget,
	}
	return r
}

// scope is what one pass over one tool knows.
type scope struct {
	*flow.Pass[*appsv1alpha1.PodBuggerTool]

	// seen is what was observed, nil until observe has succeeded.
	seen *observation
	// decision is what the pass has to do.
	decision decision
	// refused is what the API server answered about pods that cannot have the tool, by their name.
	refused map[string]error
}

// phases returns the steps of a pass. A tool that is being deleted gets none: the containers stay in any case.
func (r *Reconciler) phases(*scope) []flow.Phase[*scope] {
	return []flow.Phase[*scope]{
		{Name: "observe the pods of the tool", Run: r.observe},
		{Name: "choose the pods of the tool", Run: decide},
		{Name: "install the tool", Run: r.act},
		{Name: "follow the tool", Run: follow},
	}
}

// decide is the phase around plan.
func decide(_ context.Context, pass *scope) flow.Outcome {
	decision, err := plan(pass.Object, *pass.seen)
	pass.decision = decision
	maps.Copy(pass.refused, decision.refused)
	if err != nil {
		return flow.Stall(appsv1alpha1.ReasonInvalidSelector, err)
	}
	return flow.Done()
}

// follow is the phase around missing.
func follow(_ context.Context, pass *scope) flow.Outcome { return missing(pass) }

// forget drops what is kept about a tool that is gone, and the pods of its namespace after the last one.
func (r *Reconciler) forget(ctx context.Context, key client.ObjectKey) error {
	r.memory.forgetTool(key)
	r.pods.forget(key)
	var left appsv1alpha1.PodBuggerToolList
	if err := r.client.List(ctx, &left, client.InNamespace(key.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for i := range left.Items {
		if left.Items[i].DeletionTimestamp.IsZero() {
			return nil
		}
	}
	r.pods.close(key.Namespace)
	return nil
}
