// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// Reconciler brings one pool to its desired state.
type Reconciler struct {
	client     client.Client
	live       client.Reader
	cache      client.Reader
	recorder   event.Recorder
	evictPod   kube.Evict
	clearances *clearance.Clearances
	memory     memory
	now        func() time.Time
	// namespace is the operator's own, empty outside of a cluster.
	namespace string
}

// New returns a reconciler that reads and writes through c, whose reads have to wait for its own writes. Live reads past
// every cache; it is asked before pods are evicted and before a pool is let go. Evict evicts a pod from a node that left. The clearances are shared with the node controller. Namespace is the one that the operator runs in, whose pods no policy matches; it is
// empty outside of a cluster.
func New(
	c client.Client, live client.Reader, evict kube.Evict, recorder event.Recorder, clearances *clearance.Clearances, now func() time.Time,
	namespace string,
) *Reconciler {
	return &Reconciler{client: c, live: live, evictPod: evict, recorder: recorder, clearances: clearances, now: now, namespace: namespace}
}

// scope is what one pass works on.
type scope struct {
	// before is the pool as the pass found it.
	before *nodesv1.NodePool
	// pool is the pool as the pass leaves it.
	pool *nodesv1.NodePool
	// seen is set by observe, and has runtimeClass replaced by the phase that writes it.
	seen observation
	// access is how the admission policies were found.
	access access
	// observed is true once seen is set.
	observed bool
	// waits is Done, or what the pass has to look at again without being woken up.
	waits flow.Outcome
	// waitsFor is how long that takes.
	waitsFor time.Duration
	// events are recorded after the status has been written.
	events []event.Event
}

// comeBack makes the pass be repeated after that time, or earlier where something else asks for it. 0 asks for nothing.
func (s *scope) comeBack(reason, message string, after time.Duration) {
	if after <= 0 || s.waitsFor > 0 && s.waitsFor <= after {
		return
	}
	s.waits, s.waitsFor = flow.Wait(reason, message, after), after
}

// again ends a pass that did all it could for now.
func again(_ context.Context, s *scope) flow.Outcome { return s.waits }

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pool := &nodesv1.NodePool{}
	if err := r.client.Get(ctx, request.NamespacedName, pool); err != nil {
		r.clearances.Withdraw(request.Name)
		r.memory.recall(request.Name, "")
		forget(request.Name)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s := &scope{before: pool.DeepCopy(), pool: pool}
	outcome := flow.Run(ctx, s, r.phases(pool)...)
	if released(s.pool) {
		r.recorder.Record(s.events...)
		return outcome.Result()
	}
	return outcome.Join(r.tell(ctx, s, outcome)).Result()
}

// phases returns the steps that the pool's state asks for.
func (r *Reconciler) phases(pool *nodesv1.NodePool) []flow.Phase[*scope] {
	observe := flow.Phase[*scope]{Name: "observe the pool", Run: r.observe}
	switch {
	case pool.DeletionTimestamp != nil:
		return []flow.Phase[*scope]{observe, {Name: "let the pool go", Run: r.release}}
	case status.IsPaused(pool):
		return []flow.Phase[*scope]{observe}
	case pool.Spec.DryRun:
		return []flow.Phase[*scope]{observe, {Name: "report the dry run", Run: r.dryRun}}
	default:
		return []flow.Phase[*scope]{
			{Name: "add the finalizer", Run: r.addFinalizer},
			observe,
			{Name: "let nodes leave", Run: r.letLeave},
			{Name: "look at the admission policies", Run: r.observeAccess},
			{Name: "write the RuntimeClass", Run: r.writeRuntimeClass},
			{Name: "keep the ledger", Run: keepLedger},
			{Name: "give nodes their turn", Run: r.giveTurns},
			{Name: "drain the nodes that left", Run: r.drain},
			{Name: "come back", Run: again},
		}
	}
}

// tell writes the status, and records the events once that has succeeded.
func (r *Reconciler) tell(ctx context.Context, s *scope, outcome flow.Outcome) error {
	project(s, outcome, r.now())
	base := s.before.DeepCopy()
	base.ObjectMeta, base.Spec = s.pool.ObjectMeta, s.pool.Spec
	s.events = append(s.events, transitions(s)...)
	measure(s)
	if _, err := patch.Status(ctx, r.client, base, s.pool); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.recorder.Record(s.events...)
	return nil
}

// released reports whether the pass took the last reason to keep a pool that is being deleted.
func released(pool *nodesv1.NodePool) bool {
	return pool.DeletionTimestamp != nil && len(pool.Finalizers) == 0
}
