// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/membership"
)

// memory holds for each pool what its last census found on each node. While a large pool is being applied it is counted again and
// again, and in between only a few of its nodes have changed: only these are planned anew.
type memory struct {
	mu    sync.Mutex
	pools map[string]map[types.UID]finding // by pool
}

// finding is what a census needs to know of a node, with what it was computed from.
type finding struct {
	node, pools string // the versions
	plan        *membership.Plan
	behind      bool
}

// recall returns what the last census of the pool found, and takes it away: one census at a time counts a pool.
func (m *memory) recall(pool string) map[types.UID]finding {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.pools[pool]
	delete(m.pools, pool)
	return found
}

// keep remembers what a census of the pool found. Nodes that it did not find are forgotten.
func (m *memory) keep(pool string, found map[types.UID]finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pools == nil {
		m.pools = map[string]map[types.UID]finding{}
	}
	m.pools[pool] = found
}

// look returns the finding for a node of the named pool: the one of before where neither the node nor any pool has changed since.
func look(name string, node *corev1.Node, pools membership.Pools, version string, before map[types.UID]finding) finding {
	if found, ok := before[node.UID]; ok && found.node == node.ResourceVersion && found.pools == version {
		return found
	}
	plan := membership.NewPlan(node, pools)
	found := finding{node: node.ResourceVersion, pools: version, plan: plan.Summary()}
	// Who is behind is to be counted, also who has to wait for a turn.
	found.behind = plan.IsPending(name) || pools[name].Spec.Rollout != nil && membership.Behind(node, pools, name)
	return found
}
