// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// maxSteps bounds how often a forecast looks whether a node needs another write: a key that changes hands takes a few.
const maxSteps = 8

// Forecast is what would follow from a change of a pool.
type Forecast struct {
	// Pool is the name of the pool.
	Pool string
	// Held is true for a pool that is paused: nothing follows until it is not.
	Held bool
	// Nodes are those that join, leave or change, by name.
	Nodes []NodeForecast
	// Members is how many members the pool would have, and Carrying how many nodes carry something of it now.
	Members, Carrying int
	// Braked is true where the safety brake would hold the nodes that leave.
	Braked bool
	// Batch is the first batch of a bounded rollout, nil where all nodes follow at once.
	Batch *nodesv1.RolloutStatus
}

// NodeForecast is what would follow for a node.
type NodeForecast struct {
	// Node is its name.
	Node string
	// Joins and Leaves say what becomes of its membership. Drains is true where its pods are evicted before it is cleaned.
	Joins, Leaves, Drains bool
	// Changes are those of its labels, annotations and taints, by key.
	Changes []KeyForecast
	// Conflicts are the keys that the pool wants on the node and would not get.
	Conflicts []Conflict
	// Evicting are the taints that would come and delete running pods that do not tolerate them.
	Evicting []nodesv1.Taint
}

// KeyForecast is what would become of a key.
type KeyForecast struct {
	// Key as a Conflict has it.
	Key string
	// Before and After are its values, nil where the node does not have it.
	Before, After *string
	// Holder is the pool that would have the key, empty for another owner.
	Holder string
}

// NewForecast computes what follows from the pools as they are after a change of the named one. It asks NewPlan until a node needs no
// further write, as the controllers do, and leaves out what would follow without the change only where the node is none of the pool's.
func NewForecast(nodes []*corev1.Node, pools Pools, name string, now time.Time) *Forecast {
	f := &Forecast{Pool: name, Nodes: []NodeForecast{}}
	ready := pools[name].prepared()
	f.Held = ready.holds()
	after := maps.Clone(pools)
	after[name] = ready
	extent, leaving, carrying := Extent{}, 0, 0
	order := slices.SortedFunc(slices.Values(nodes), func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	for _, node := range order {
		was, is := Carries(node, name), ready.DeletionTimestamp == nil && ready.Has(node)
		if !was && !is {
			continue
		}
		counts := was && !slices.Contains(NewPlan(node, pools).Claimed, name)
		f.Carrying += one(was)
		carrying += one(counts)
		leaving += one(counts && !is)
		if is {
			f.Members++
			extent = extent.with(node, Behind(node, after, name))
		}
		if change := foresee(node, after, name); change.matters() {
			f.Nodes = append(f.Nodes, change)
		}
	}
	f.Braked = Brakes(ready.NodePool, leaving, carrying)
	f.Batch, _ = NextBatch(pools[name].NodePool, extent, now)
	return f
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// prepared returns the pool as it is when its finalizer and its ledger are written, so that nothing is still to come but the nodes
// themselves. A dry run and the bound of a rollout are left out: a forecast is about all nodes.
func (p *Pool) prepared() *Pool {
	pool := p.DeepCopy()
	pool.Spec.DryRun, pool.Spec.Rollout = false, nil
	pool.Finalizers = append(pool.Finalizers, nodesv1.Finalizer)
	pool.Status.Ledger = Union(pool.Status.Ledger, Wanted(pool))
	pool.Status.MemberLabel = pool.MemberLabel()
	out, _ := NewPool(pool) // a malformed one selects no node
	return out
}

// with returns the extent with one more member.
func (e Extent) with(node *corev1.Node, behind bool) Extent {
	e.Members++
	if slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}) {
		e.Ready++
	}
	if behind {
		e.Behind = append(e.Behind, node.Name)
	}
	return e
}

// foresee returns what follows for a node that is a member of the pool, or carries something of it.
func foresee(node *corev1.Node, pools Pools, name string) NodeForecast {
	settled, known := atRest(node, pools)
	pool := known[name]
	is := pool.DeletionTimestamp == nil && pool.Has(settled)
	was := HasJoined(node, name)
	out := NodeForecast{Node: node.Name, Joins: is && !was, Leaves: !is && was}
	out.Drains = out.Leaves && Evicts(pool.NodePool)
	holders := Holders(settled, known)
	before, after := keysOf(node), keysOf(settled)
	for _, key := range slices.Sorted(maps.Keys(merged(before, after))) {
		had, has := before[key], after[key]
		if had != nil && has != nil && *had == *has || had == nil && has == nil {
			continue
		}
		out.Changes = append(out.Changes, KeyForecast{Key: key, Before: had, After: has, Holder: holders[key].Pool})
	}
	for _, conflict := range NewPlan(settled, known).Conflicts {
		if conflict.Pool == name {
			out.Conflicts = append(out.Conflicts, conflict)
		}
	}
	for _, taint := range settled.Spec.Taints {
		if taint.Effect == corev1.TaintEffectNoExecute && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == taint.Key && t.Value == taint.Value && t.Effect == taint.Effect
		}) {
			out.Evicting = append(out.Evicting, nodesv1.Taint{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
		}
	}
	return out
}

func (n *NodeForecast) matters() bool {
	return n.Joins || n.Leaves || len(n.Changes)+len(n.Conflicts)+len(n.Evicting) > 0
}

// atRest applies one plan after the other to a copy of the node until nothing is left to write, and notes the originals that the status
// of a pool has to hold in between.
func atRest(node *corev1.Node, pools Pools) (*corev1.Node, Pools) {
	node, pools = node.DeepCopy(), maps.Clone(pools)
	for range maxSteps {
		plan := NewPlan(node, pools)
		for _, original := range plan.Originals {
			pool := pools[original.Pool].DeepCopy()
			pool.Status.Originals = Remember(pool.Status.Originals, node, original)
			pools[original.Pool], _ = NewPool(pool)
		}
		if plan.Empty() && len(plan.Originals) == 0 {
			break
		}
		plan.apply(node)
	}
	return node, pools
}

// apply changes the node as the merge patch of the plan does.
func (p *Plan) apply(node *corev1.Node) {
	node.Labels = changed(node.Labels, p.SetLabels, p.RemoveLabels)
	node.Annotations = changed(node.Annotations, p.SetAnnotations, p.RemoveAnnotations)
	if p.RecordChanged {
		node.Annotations[nodesv1.AppliedAnnotation] = p.Record
		if p.Record == "" {
			delete(node.Annotations, nodesv1.AppliedAnnotation)
		}
	}
	if p.TaintsChanged {
		node.Spec.Taints = p.Taints
	}
}

func changed(all, set map[string]string, remove []string) map[string]string {
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, set)
	for _, key := range remove {
		delete(all, key)
	}
	return all
}

// keysOf returns what a node carries, without the record of Windlass.
func keysOf(node *corev1.Node) map[string]*string {
	out := map[string]*string{}
	for key, value := range node.Labels {
		out[LabelKey(key)] = &value
	}
	for key, value := range node.Annotations {
		if key != nodesv1.AppliedAnnotation {
			out[AnnotationKey(key)] = &value
		}
	}
	for i := range node.Spec.Taints {
		out[TaintKey(&node.Spec.Taints[i])] = &node.Spec.Taints[i].Value
	}
	return out
}

func merged(a, b map[string]*string) map[string]*string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
