// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Plan is what has to change on a node.
type Plan struct {
	// SetLabels are the labels to set.
	SetLabels map[string]string
	// RemoveLabels are the keys of the labels to remove, sorted.
	RemoveLabels []string
	// SetAnnotations are the annotations to set, the record left out.
	SetAnnotations map[string]string
	// RemoveAnnotations are the keys of the annotations to remove, sorted, the record left out.
	RemoveAnnotations []string
	// Taints is the node's complete new list of taints; it counts only if TaintsChanged.
	Taints []corev1.Taint
	// TaintsChanged is true when Taints differs from what the node has.
	TaintsChanged bool
	// Record is the node's new record, empty for none; it counts only if RecordChanged.
	Record string
	// RecordChanged is true when Record differs from what the node has.
	RecordChanged bool

	// Members are the names of the pools that the node is in, the one that wins a conflict first.
	Members []string
	// Pending are the pools, sorted, that the node does not yet carry everything of, or still carries something of. One whose
	// rollout has not come to the node is not among them.
	Pending []string
	// Leaving are the pools, sorted, that the node carries something of without being a member any more, or that are being
	// deleted.
	Leaving []string
	// Carrying are the pools, sorted, that the node carries anything of, by its record or by a member label.
	Carrying []string
	// Claimed are those of them, sorted, of which the node has nothing but what its kubelet can write.
	Claimed []string
	// Early is true while a pool of the node is new or has a new spec, and its finalizer or its ledger is still to come: then more
	// will follow in a moment.
	Early bool
	// Conflicts are the keys that a pool wants on the node and cannot have.
	Conflicts []Conflict
	// Originals are values that a pool's status has to hold before the pool may have their keys.
	Originals []Original
	// Kept are the keys, by pool, whose originals the pool's status must keep.
	Kept map[string][]Key
	// Drift are the keys, sorted, that Windlass had put on the node and another writer changed or removed.
	Drift []string
	// Abandoned are the pools, sorted, that the record names but no ledger confirms: their keys are left as they are.
	Abandoned []string
}

// Conflict is a key that a pool wants on a node and cannot have.
type Conflict struct {
	// Pool is the name of the pool that goes without.
	Pool string
	// Key is the key as people read it: "label <key>", "annotation <key>" or "taint <key>:<effect>".
	Key string
	// Holder is the name of the pool that has the key, empty for another owner.
	Holder string
}

// Empty reports whether there is nothing to write.
func (p *Plan) Empty() bool {
	return len(p.SetLabels)+len(p.RemoveLabels)+len(p.SetAnnotations)+len(p.RemoveAnnotations) == 0 &&
		!p.TaintsChanged && !p.RecordChanged
}

// NewPlan computes what has to change on the node. The result depends on nothing but the arguments.
//
// For each key the members decide in the order in which they win conflicts. A key that the node carries with another value
// and that no record claims is another owner's; the pool's overwrite policy says what happens to it. One with the wanted
// value is as wanted and not claimed. A pool only takes part with keys that its ledger already holds, so that whatever is
// written can be found again; a pool that is paused or in dry run, or whose rollout has not come to the node, holds what it
// has, before all others.
//
// A node that has left a pool and is being drained gives up the membership first, so that no pod of the pool comes back, and the
// rest once it is drained.
func NewPlan(node *corev1.Node, pools Pools) *Plan {
	return decide(node, pools, func(string) bool { return true }).plan
}

// NewClearedPlan is NewPlan for a node that keeps what it carries of a pool that it left, or that is being deleted, until it may
// leave that pool. A record that names nothing which is there and confirmed does not wait: it is its kubelet's word alone.
func NewClearedPlan(node *corev1.Node, pools Pools, mayLeave func(pool string) bool) *Plan {
	return decide(node, pools, mayLeave).plan
}

// Behind reports whether the node has to follow the named pool, also where it has to wait for its batch.
func Behind(node *corev1.Node, pools Pools, name string) bool {
	pools = maps.Clone(pools)
	pools[name] = pools[name].unbounded()
	m := decide(node, pools, func(string) bool { return true })
	// A key that another pool wants as well stays on the node, and only the record has to change.
	return slices.Contains(m.plan.Pending, name) || (Record{name: m.before[name]}).String() != (Record{name: m.after[name]}).String()
}

func decide(node *corev1.Node, pools Pools, mayLeave func(pool string) bool) *merge {
	m := newMerge(node, pools)
	for _, name := range m.shown {
		pool, exists := pools[name]
		switch {
		case !exists:
		case m.holds(pool):
			m.hold(pool, everything)
		case !pool.left(node, m.before):
		case pool.Drains(node):
			m.hold(pool, exceptMembership)
		case !mayLeave(name) && (m.bears(pool) || HasJoined(node, name)):
			m.hold(pool, everything)
			m.holdMembership(pool)
		}
	}
	members := pools.members(node, m.before)
	for _, pool := range members {
		if m.holds(pool) {
			m.retain(pool)
			m.guard(pool)
		}
	}
	for _, pool := range members {
		m.plan.Members = append(m.plan.Members, pool.Name)
		switch {
		case pool.DeletionTimestamp != nil:
		case m.holds(pool):
			m.incomplete = m.incomplete || pool.holds() && !pool.Spec.DryRun
			m.deferred = m.deferred || !pool.holds()
			m.plan.Early = m.plan.Early || pool.begins()
			m.pending[pool.Name] = m.pending[pool.Name] || pool.holds() && !pool.settled()
		default:
			m.join(pool)
		}
	}
	m.release()
	m.initialize()
	m.finish()
	return m
}

// initialize opens a node that has registered itself closed, if it is in a pool and the plan brings it everything that its pools want.
func (m *merge) initialize() {
	closed := slices.ContainsFunc(m.node.Spec.Taints, isUninitialized)
	complete := !m.incomplete && len(m.plan.Originals) == 0
	if !closed || !complete || len(m.joined) == 0 && !m.deferred || m.deferred && !m.nobodyBehind() {
		return
	}
	m.opens, m.plan.TaintsChanged = true, true
	for _, pool := range m.joined {
		m.pending[pool] = true
	}
}

// nobodyBehind reports whether none of the pools whose batch the node waits for would change it: then the batch never comes.
func (m *merge) nobodyBehind() bool {
	node := m.node.DeepCopy()
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isUninitialized)
	for _, name := range m.plan.Members {
		if m.pools[name].defers(node) && Behind(node, m.pools, name) {
			return false
		}
	}
	return true
}

func isUninitialized(t corev1.Taint) bool { return t.Key == nodesv1.UninitializedTaint }

// Preview computes what the named pool would change on the node if it were neither in dry run nor paused.
func Preview(node *corev1.Node, pools Pools, name string) *Plan {
	pool := pools[name].DeepCopy()
	pool.Spec.DryRun = false
	delete(pool.Annotations, status.PausedAnnotation)
	pool.Spec.Rollout = nil // the report is about all nodes, not about the first batch
	pool.Finalizers = append(pool.Finalizers, nodesv1.Finalizer)
	pool.Status.Ledger = Union(pool.Status.Ledger, Wanted(pool))
	pool.Status.MemberLabel = pool.MemberLabel()
	preview := maps.Clone(pools)
	preview[name], _ = NewPool(pool)
	plan, waits := NewPlan(node, preview), false
	// Where an original has to be noted first, the key would follow in the next step.
	for _, original := range plan.Originals {
		if original.Pool == name {
			pool.Status.Originals, waits = Remember(pool.Status.Originals, node, original), true
		}
	}
	if !waits {
		return plan
	}
	return NewPlan(node, preview)
}
