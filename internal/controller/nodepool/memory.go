// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/membership"
)

// memory holds for each pool what its last census found on each node. While a large pool is being applied it is counted again and
// again, and in between only a few of its nodes have changed: only these are planned anew.
type memory struct {
	mu    sync.Mutex
	pools map[string]findings // by pool
}

// findings are what a census found, and the version of the pools with which it did.
type findings struct {
	version string
	nodes   map[types.UID]finding
}

// finding is what a census of a pool needs to know of a node.
type finding struct {
	// version is the node's.
	version string
	// members are the pools that the node is in.
	members []string
	// behind is true for a node that has to follow the pool, carrying for one that has something of it, and leaving for one that
	// is no longer a member besides.
	behind, carrying, leaving bool
	// conflicts, originals and kept are those of the pool.
	conflicts []membership.Conflict
	originals []membership.Original
	kept      []membership.Key
}

// recall returns what the last census of the pool found with that version of the pools, and takes it away: one census at a time
// counts a pool.
func (m *memory) recall(pool, version string) map[types.UID]finding {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.pools[pool]
	delete(m.pools, pool)
	if last.version != version {
		return nil
	}
	return last.nodes
}

// keep remembers what a census of the pool found. Nodes that it did not find are forgotten.
func (m *memory) keep(pool string, found findings) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pools == nil {
		m.pools = map[string]findings{}
	}
	m.pools[pool] = found
}

// look returns the finding for a node of the named pool: the one of before where the node has not changed since.
func look(name string, node *corev1.Node, pools membership.Pools, before map[types.UID]finding) finding {
	if found, ok := before[node.UID]; ok && found.version == node.ResourceVersion {
		return found
	}
	plan, pool := membership.NewPlan(node, pools), pools[name]
	found := finding{
		version: node.ResourceVersion, members: plan.Members,
		// Who is behind is to be counted, also who has to wait for a turn.
		behind:   slices.Contains(plan.Pending, name) || pool.Spec.Rollout != nil && membership.Behind(node, pools, name),
		carrying: slices.Contains(plan.Carrying, name),
		leaving:  slices.Contains(plan.Leaving, name),
	}
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
