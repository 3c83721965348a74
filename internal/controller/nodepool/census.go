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
)

// census counts the nodes of a pool.
type census struct {
	members, ready, shared int32
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
	// conflicted is how many members lack a key that somebody else holds.
	conflicted int32
	// unsynced is how many members are pending, conflicted or both.
	unsynced int32
	// conflicts counts the nodes for each key that somebody else holds.
	conflicts map[membership.Conflict]int
	// originals are those that the pool has to note, by node.
	originals []noted
	// kept are the keys, by node, whose originals are still needed.
	kept map[types.UID][]membership.Key
	// neighbours are the taints of the pools that share a node with this one.
	neighbours []nodesv1.Taint
	// handlers counts the members that offer each runtime handler, reporting those that tell theirs at all.
	handlers  map[string]int
	reporting int
	// offers are the handlers of each member that tells them.
	offers    map[string][]string
	capacity  corev1.ResourceList
	allocated corev1.ResourceList
	// preview is what the pool would do, in dry run.
	preview *preview
	// memberNodes are the names of the members, sorted.
	memberNodes []string
}

// noted is an original and the node that it is of.
type noted struct {
	node     *corev1.Node
	original membership.Original
}

// take takes the census of the named pool over the nodes that are in it or carry something of it, and remembers it.
func (m *memory) take(name string, nodes []corev1.Node, pools membership.Pools) (census, error) {
	version, err := pools.Version()
	if err != nil {
		return census{}, err
	}
	found := make(map[types.UID]finding, len(nodes))
	before := m.recall(name, version)
	defer func() { m.keep(name, findings{version: version, nodes: found}) }()
	var members []string
	return count(name, nodes, pools, func(node *corev1.Node) finding {
		one := look(name, node, pools, before)
		if slices.Equal(one.members, members) { // neighbors by name are mostly in the same pools: remember these once
			one.members = members
		}
		members, found[node.UID] = one.members, one
		return one
	}), nil
}

// count takes the census with what is found on each node.
func count(name string, nodes []corev1.Node, pools membership.Pools, find func(*corev1.Node) finding) census {
	c := census{
		conflicts: map[membership.Conflict]int{}, kept: map[types.UID][]membership.Key{},
		handlers: map[string]int{}, offers: map[string][]string{},
		capacity: corev1.ResourceList{}, allocated: corev1.ResourceList{},
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
	neighbours := map[string]bool{}
	for _, node := range order {
		found := find(node)
		c.add(node, found, slices.Contains(found.members, name))
		if c.preview != nil {
			c.preview.add(membership.NewPlan(node, pools), membership.Preview(node, pools, name), node)
		}
		if slices.Contains(found.members, name) {
			for _, other := range found.members {
				neighbours[other] = other != name
			}
		}
	}
	for other, shares := range neighbours {
		if shares {
			c.neighbours = append(c.neighbours, tolerated(pools[other].NodePool)...)
		}
	}
	return c
}

// add counts one node.
func (c *census) add(node *corev1.Node, found finding, member bool) {
	if found.behind {
		c.pending = append(c.pending, node.Name)
	}
	if found.carrying {
		c.carrying = append(c.carrying, node.Name)
	}
	if found.leaving {
		c.leaving = append(c.leaving, node.Name)
		c.uids[node.Name] = node.UID
	}
	c.kept[node.UID] = slices.Clip(found.kept)
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
	c.memberNodes = append(c.memberNodes, node.Name)
	c.ready += one(isReady(node))
	c.shared += one(len(found.members) > 1)
	c.conflicted += one(conflicted)
	c.unsynced += one(found.behind || conflicted)
	c.addHandlers(node)
	sum(c.capacity, node.Status.Capacity)
	sum(c.allocated, node.Status.Allocatable)
}

// addHandlers counts what a member offers. The handler without a name is the runtime's default and no RuntimeClass' to name.
func (c *census) addHandlers(node *corev1.Node) {
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

// lacking returns the names, sorted, of the members that tell their handlers and do not offer this one.
func (c *census) lacking(handler string) []string {
	var names []string
	for _, node := range slices.Sorted(maps.Keys(c.offers)) {
		if !slices.Contains(c.offers[node], handler) {
			names = append(names, node)
		}
	}
	return names
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
