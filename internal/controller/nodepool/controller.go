// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
)

// Reconciler reconciles NodePools.
type Reconciler struct {
	*flow.Lifecycle[*nodesv1.NodePool, *scope]

	client     client.Client
	live       client.Reader
	cache      client.Reader
	clearances *clearance.Clearances
	drains     *clearance.Drains
	prepared   membership.Prepared
	memory     memory
	pace       pace
	consents   consents
	turns      turns
	podCounts  podCounts
	neighbours neighbours
	wakeups    kube.Wakeup
	// namespace is the operator's own, empty outside of a cluster.
	namespace string
}

// New returns a Reconciler that reads and writes through c, whose reads have to wait for its own writes. Live reads past every cache: it
// lists pods, and is asked before a pool is let go. Clearances are granted to the node controller, and drains tell how far the
// drain controller has come. Namespace is the one that the operator runs in, whose pods no policy matches; it is empty outside of a
// cluster.
func New(
	c client.Client, live client.Reader, recorder event.Recorder, clearances *clearance.Clearances, drains *clearance.Drains,
	now func() time.Time, namespace string,
) *Reconciler {
	r := &Reconciler{client: c, live: live, clearances: clearances, drains: drains, namespace: namespace}
	r.Lifecycle = &flow.Lifecycle[*nodesv1.NodePool, *scope]{
		Client: c, Live: live, Recorder: recorder, Now: now,
		New:            func() *nodesv1.NodePool { return &nodesv1.NodePool{} },
		Finalizers:     []string{nodesv1.Finalizer, nodesv1.LegacyFinalizer},
		NeedsFinalizer: func(pool *nodesv1.NodePool) bool { return !pool.Spec.DryRun },
		Begin:          func(pass *flow.Pass[*nodesv1.NodePool]) *scope { return &scope{Pass: pass} },
		Phases:         r.phases,
		Describe:       describe,
		Announce:       announcements(),
		Wrote:          measure,
		Forget:         r.forget,
	}
	return r
}

// scope is what one pass over one pool knows.
type scope struct {
	*flow.Pass[*nodesv1.NodePool]

	// seen is what was observed, nil until observe has succeeded. The phase that writes the RuntimeClass replaces it here.
	seen *observation
	// access is how the admission policies were found.
	access access
	// decided is what follows from it.
	decided decision
}

// phases returns the steps that the pool's state asks for.
func (r *Reconciler) phases(s *scope) []flow.Phase[*scope] {
	observe := flow.Phase[*scope]{Name: "observe the pool", Run: r.observe}
	observeAccess := flow.Phase[*scope]{Name: "observe the admission policies", Run: r.observeAccess}
	switch {
	case s.Object.DeletionTimestamp != nil:
		return []flow.Phase[*scope]{observe, {Name: "let the pool go", Run: r.release}}
	case status.IsPaused(s.Object):
		return []flow.Phase[*scope]{observe, observeAccess}
	case s.Object.Spec.DryRun:
		return []flow.Phase[*scope]{observe, observeAccess, {Name: "report the dry run", Run: r.dryRun}}
	default:
		return []flow.Phase[*scope]{
			observe,
			{Name: "let nodes leave", Run: r.letLeave},
			observeAccess,
			{Name: "write the RuntimeClass", Run: r.writeRuntimeClass},
			{Name: "let nodes follow", Run: r.letFollow},
		}
	}
}

// forget drops what is kept about a pool that is gone.
func (r *Reconciler) forget(_ context.Context, pool client.ObjectKey) error {
	r.clearances.Withdraw(pool.Name)
	r.drains.Keep(pool.Name)
	r.memory.recall(pool.Name)
	r.pace.drop(pool.Name)
	r.consents.drop(pool.Name)
	r.turns.drop(pool.Name)
	r.podCounts.drop(pool.Name)
	r.neighbours.drop(pool.Name)
	dropMetrics(pool.Name)
	return nil
}
