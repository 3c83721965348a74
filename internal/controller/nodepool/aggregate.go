// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
)

// aggregate sums up the nodes of a pool.
type aggregate struct {
	members, ready, shared int32
	// relabelling is how many members lack the member label of the pool and carry its other one.
	relabelling int
	// pending are the names, sorted, of nodes that do not yet carry everything of the pool or still carry something of it.
	pending []string
	// behind are the names, sorted, of the members among them.
	behind []string
	// uids are the UIDs of the nodes that are leaving.
	uids map[string]types.UID
	// carrying are the names, sorted, of nodes that carry anything of the pool, members or not.
	carrying []string
	// leaving are the names, sorted, of those that carry something and are no longer members.
	leaving []string
	// claimed are the names, sorted, of those that carry nothing but what their kubelets can write. The safety brake does not count them.
	claimed []string
	// conflicted is how many members lack a key that another owner holds.
	conflicted int32
	// unsynced is how many members are pending, conflicted or both.
	unsynced int32
	// conflicts counts the nodes for each key that another owner holds.
	conflicts map[membership.Conflict]int
	// originals are those that the pool has to note, by node.
	originals []noted
	// kept are the keys, by node, whose originals are still needed.
	kept map[types.UID][]membership.Key
	// sharing are the names, sorted, of the pools that have something on a member of this one, and neighbours are their taints. Mates are those that
	// have a member in common with it.
	sharing    []string
	mates      []string
	neighbours []nodesv1.Taint
	// handlers counts the members that offer each runtime handler, reporting those that report theirs at all.
	handlers  map[string]int
	reporting int
	// offers are the handlers of each member that reports them.
	offers      map[string][]string
	capacity    corev1.ResourceList
	allocatable corev1.ResourceList
	// preview is what the pool would do, in dry run.
	preview *preview
	// memberNodes are the names of the members, sorted.
	memberNodes []string
}

// finding is what the aggregate of a pool needs to know of a node.
type finding struct {
	// version is the node's.
	version string
	// members are the pools that the node is in, and around are those and the ones that it has left and still has something of: their taints
	// may stay for as long as a drain or the brake holds it.
	members, around []string
	// behind is true for a node that has to follow the pool, carrying for one that has something of it, and leaving for one that
	// is no longer a member besides. It is claimed where the node has nothing but what its kubelet can write.
	behind, carrying, leaving, claimed bool
	// relabelling is true for a member that lacks the member label of the pool and carries its other one.
	relabelling bool
	// conflicts, originals and kept are those of the pool.
	conflicts []membership.Conflict
	originals []membership.Original
	kept      []membership.Key
	// change is what a pool in dry run would do to the node, nil for nothing.
	change *change
}

// noted is an original and the node that it is of.
type noted struct {
	node     *corev1.Node
	original membership.Original
}

// sumUp sums up the nodes with what is found on each of them.
func sumUp(name string, nodes []corev1.Node, pools membership.Pools, finder func(*corev1.Node) finding) aggregate {
	c := aggregate{
		conflicts: map[membership.Conflict]int{}, kept: map[types.UID][]membership.Key{},
		handlers: map[string]int{}, offers: map[string][]string{},
		capacity: corev1.ResourceList{}, allocatable: corev1.ResourceList{},
		uids: map[string]types.UID{},
	}
	if pools[name].Spec.DryRun {
		c.preview = newPreview()
	}
	// Sums of quantities take the unit of the first one, so the order has to be the same each time.
	order := make([]*corev1.Node, 0, len(nodes))
	for i := range nodes {
		order = append(order, &nodes[i])
	}
	slices.SortFunc(order, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	neighbours := map[string]bool{} // whether they have a member in common
	for _, node := range order {
		found := finder(node)
		member := slices.Contains(found.members, name)
		c.add(node, found, member)
		if c.preview != nil && found.change != nil {
			c.preview.add(node.Name, found.change)
		}
		if member {
			for _, other := range found.around {
				neighbours[other] = neighbours[other] || slices.Contains(found.members, other)
			}
		}
	}
	delete(neighbours, name)
	for _, other := range slices.Sorted(maps.Keys(neighbours)) {
		c.sharing = append(c.sharing, other)
		if neighbours[other] {
			c.mates = append(c.mates, other)
		}
		c.neighbours = append(c.neighbours, tolerated(pools[other].NodePool)...)
	}
	return c
}

// add counts one node.
func (c *aggregate) add(node *corev1.Node, found finding, member bool) {
	if found.behind {
		c.pending = append(c.pending, node.Name)
	}
	if found.carrying {
		c.carrying = append(c.carrying, node.Name)
	}
	if found.claimed {
		c.claimed = append(c.claimed, node.Name)
	}
	if found.leaving {
		c.leaving = append(c.leaving, node.Name)
		c.uids[node.Name] = node.UID
	}
	if len(found.kept) > 0 {
		c.kept[node.UID] = slices.Clip(found.kept)
	}
	for _, original := range found.originals {
		c.originals = append(c.originals, noted{node: node, original: original})
		c.kept[node.UID] = append(c.kept[node.UID], original.Key)
	}
	if !member {
		return
	}
	for _, conflict := range found.conflicts {
		c.conflicts[conflict]++
	}
	if found.behind {
		c.behind = append(c.behind, node.Name)
	}
	conflicted := len(found.conflicts) > 0
	c.members++
	if found.relabelling {
		c.relabelling++
	}
	c.memberNodes = append(c.memberNodes, node.Name)
	c.ready += one(isReady(node))
	c.shared += one(len(found.members) > 1)
	c.conflicted += one(conflicted)
	c.unsynced += one(found.behind || conflicted)
	c.addHandlers(node)
	sum(c.capacity, node.Status.Capacity)
	sum(c.allocatable, node.Status.Allocatable)
}

// vouched returns those of the nodes that carry more than what their kubelets can write.
func (c *aggregate) vouched(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return contains(c.claimed, name) })
}

// addHandlers counts what a member offers. The handler without a name is the runtime's default, which no RuntimeClass
// can name.
func (c *aggregate) addHandlers(node *corev1.Node) {
	if len(node.Status.RuntimeHandlers) == 0 {
		return
	}
	c.reporting++
	for _, handler := range node.Status.RuntimeHandlers {
		if handler.Name != "" {
			c.handlers[handler.Name]++
			c.offers[node.Name] = append(c.offers[node.Name], handler.Name)
		}
	}
	if c.offers[node.Name] == nil {
		c.offers[node.Name] = []string{}
	}
}

// lacking returns the names, sorted, of the members that report their handlers and do not offer this one.
func (c *aggregate) lacking(handler string) []string {
	var names []string
	for _, node := range slices.Sorted(maps.Keys(c.offers)) {
		if !slices.Contains(c.offers[node], handler) {
			names = append(names, node)
		}
	}
	return names
}

// find returns the finding for a node of the named pool.
func find(name string, node *corev1.Node, pools membership.Pools) finding {
	plan, pool := membership.NewPlan(node, pools), pools[name]
	var foreseen *membership.Plan
	if status.IsPaused(pool.NodePool) || pool.Spec.DryRun {
		foreseen = membership.Preview(node, pools, name)
	}
	found := finding{
		version: node.ResourceVersion, members: plan.Members, around: around(plan, pools),
		// A node that waits for its batch, or for the end of a pause or of a dry run, is behind, too.
		behind: slices.Contains(plan.Pending, name) || pool.Spec.Rollout != nil && membership.Behind(node, pools, name) ||
			foreseen != nil && slices.Contains(foreseen.Pending, name),
		carrying: slices.Contains(plan.Carrying, name),
		leaving:  slices.Contains(plan.Leaving, name),
		claimed:  slices.Contains(plan.Claimed, name),
	}
	if pool.Spec.DryRun {
		found.change = newChange(plan, foreseen, node)
	}
	_, labelled := node.Labels[pool.MemberLabel()]
	found.relabelling = !labelled && slices.Contains(plan.Members, name) && membership.HasJoined(node, name)
	for _, conflict := range plan.Conflicts {
		if conflict.Pool == name {
			found.conflicts = append(found.conflicts, conflict)
		}
	}
	for _, original := range plan.Originals {
		if original.Pool == name {
			found.originals = append(found.originals, original)
		}
	}
	if len(pool.Status.Originals) > 0 { // hardly ever; without any there is nothing to be kept
		found.kept = plan.Kept[name]
	}
	return found
}

// around returns the pools whose taints the node has or is about to have. What its kubelet only claims is no reason to tolerate anything.
func around(plan *membership.Plan, pools membership.Pools) []string {
	around := plan.Members
	for _, name := range plan.Carrying {
		if pools[name] != nil && !slices.Contains(plan.Members, name) && !slices.Contains(plan.Claimed, name) {
			around = append(slices.Clip(around), name)
		}
	}
	return around
}

func one(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func sum(total, add corev1.ResourceList) {
	for name, quantity := range add {
		value := total[name]
		value.Add(quantity)
		total[name] = value
	}
}
