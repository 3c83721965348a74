// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/membership"
)

// memory holds for each pool what was last found on each of its nodes. While a large pool is being applied it is counted again and
// again, and in between only a few of its nodes have changed: only these are planned anew, and those that a changed pool concerns.
type memory struct {
	mu    sync.Mutex
	pools map[string]findings // by pool
}

// findings are what was found on the nodes of a pool, and the pools with which it was.
type findings struct {
	pools membership.Pools
	nodes map[types.UID]finding
}

// aggregate sums up the named pool over the nodes that are in it or carry something of it, and remembers what it found.
func (m *memory) aggregate(name string, nodes []corev1.Node, pools membership.Pools) (aggregate, error) {
	last := m.recall(name)
	changes, err := pools.Changed(last.pools)
	if err != nil {
		return aggregate{}, err
	}
	known := last.nodes
	if known == nil || changes.Include(name) {
		known = make(map[types.UID]finding, len(nodes))
	}
	defer func() { m.keep(name, findings{pools: pools, nodes: present(known, nodes)}) }()
	var members []string
	return sumUp(name, nodes, pools, func(node *corev1.Node) finding {
		one, ok := known[node.UID]
		if ok && one.version == node.ResourceVersion && !changes.Reach(node) {
			members = one.members
			return one
		}
		one = find(name, node, pools)
		if slices.Equal(one.members, members) { // neighbors by name are mostly in the same pools: remember these once
			one.members = members
		}
		if slices.Equal(one.around, one.members) {
			one.around = one.members
		}
		members, known[node.UID] = one.members, one
		return one
	}), nil
}

// present returns what is known of the nodes, which are all known, and forgets those that are gone.
func present(known map[types.UID]finding, nodes []corev1.Node) map[types.UID]finding {
	if len(known) == len(nodes) {
		return known
	}
	there := make(map[types.UID]bool, len(nodes))
	for i := range nodes {
		there[nodes[i].UID] = true
	}
	maps.DeleteFunc(known, func(uid types.UID, _ finding) bool { return !there[uid] })
	return known
}

// recall returns what was last found for the pool, and takes it away: one pass at a time counts a pool.
func (m *memory) recall(pool string) findings {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.pools[pool]
	delete(m.pools, pool)
	return last
}

// keep remembers what was found for the pool.
func (m *memory) keep(pool string, found findings) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pools == nil {
		m.pools = map[string]findings{}
	}
	m.pools[pool] = found
}
