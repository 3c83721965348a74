// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// Reconciler keeps PodBuggerTools.
type Reconciler struct {
	client   client.Client
	direct   client.Client
	pods     podSource
	recorder event.Recorder
	now      func() time.Time
	memory   memory
}

// New returns a Reconciler that reads tools from c and pods from the source. Reads of c come from a cache and wait for c's own
// writes. Pods are written with direct, which must not do so: the manager's cache holds only some pods, and would wait for the
// others for ever.
func New(c, direct client.Client, pods podSource, recorder event.Recorder, now func() time.Time) *Reconciler {
	return &Reconciler{client: c, direct: direct, pods: pods, recorder: recorder, now: now}
}

// untilRead is how long a pass waits for the pods of a namespace to be read for the first time.
const untilRead = 250 * time.Millisecond

// scope is what one pass over one tool knows.
type scope struct {
	// tool is the object as read; its status becomes what the pass observed.
	tool *appsv1alpha1.PodBuggerTool
	// before is the object as read, for the difference that is written and for the events.
	before *appsv1alpha1.PodBuggerTool
	// pods are those of the namespace as the cache has them, or unread says why it has not.
	pods   []corev1.Pod
	unread error
	// seen is what was observed, nil until observe has succeeded.
	seen *observation
	// decision is what the pass has to do.
	decision decision
	// refused is what the API server said about pods that cannot have the tool, by their name.
	refused map[string]error
	// events tell what the pass did.
	events []event.Event
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
	var tool appsv1alpha1.PodBuggerTool
	if err := r.client.Get(ctx, req.NamespacedName, &tool); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return reconcile.Result{}, r.forget(ctx, req.NamespacedName)
		}
		return reconcile.Result{}, err
	}
	if !tool.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil // somebody else's finalizer holds it; the containers stay in any case
	}

	pods, unread := r.pods.Pods(ctx, tool.Namespace)
	if errors.Is(unread, errNotRead) {
		// That is no news for the status: after a restart, nothing has changed.
		return reconcile.Result{RequeueAfter: flow.Jitter(untilRead)}, nil
	}

	pass := &scope{tool: &tool, before: tool.DeepCopy(), pods: pods, unread: unread, refused: make(map[string]error)}
	var outcome flow.Outcome
	defer func() {
		outcome = outcome.Join(r.finish(ctx, pass, outcome))
		result, err = outcome.Result()
	}()
	outcome = flow.Run(ctx, pass,
		flow.Phase[*scope]{Name: "observe the pods of the tool", Run: r.observe},
		flow.Phase[*scope]{Name: "choose the pods of the tool", Run: decide},
		flow.Phase[*scope]{Name: "install the tool", Run: r.act},
		flow.Phase[*scope]{Name: "follow the tool", Run: follow},
	)
	return result, err
}

// finish writes the status where the pass changed it, and only then tells the events: they say what happened, and a pass
// whose status write failed happens again.
func (r *Reconciler) finish(ctx context.Context, pass *scope, outcome flow.Outcome) error {
	describe(pass, outcome, r.now())
	pass.events = append(pass.events, transitions(pass.before, pass.tool)...)
	if _, err := patch.Status(ctx, r.client, pass.before, pass.tool); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.recorder.Record(pass.events...)
	return nil
}

// forget drops what is kept for a tool that is gone, and the pods of its namespace after the last one.
func (r *Reconciler) forget(ctx context.Context, key client.ObjectKey) error {
	r.memory.forgetTool(key)
	var left appsv1alpha1.PodBuggerToolList
	if err := r.client.List(ctx, &left, client.InNamespace(key.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	if len(left.Items) == 0 {
		r.pods.Close(key.Namespace)
		r.memory.forgetPods(key.Namespace)
	}
	return nil
}

// decide is the phase around plan.
func decide(_ context.Context, pass *scope) flow.Outcome {
	decision, err := plan(pass.tool, *pass.seen)
	pass.decision = decision
	if err != nil {
		return flow.Stall(appsv1alpha1.ReasonInvalidSelector, err)
	}
	return flow.Done()
}
