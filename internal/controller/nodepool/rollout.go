// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"
	"sync"
	"time"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// planRollout returns the batch of nodes that may follow the pool now, and when to look again without being woken up.
func planRollout(pool *nodesv1.NodePool, seen *observation, now time.Time) (*nodesv1.RolloutStatus, time.Duration) {
	extent := seen.nodes.extent()
	extent.After = seen.lastTurn
	return membership.NextBatch(pool, extent, now)
}

// extent is what a rollout depends on.
func (c *aggregate) extent() membership.Extent {
	return membership.Extent{Members: c.members, Ready: c.ready, Behind: c.behind}
}

// turns holds for each pool with a bounded rollout the last node of the last batch. A process that has just started begins with the first node by name,
// or behind the batch that it finds. The zero value knows of no pool.
type turns struct {
	mu sync.Mutex
	of map[string]string // by pool
}

// recall returns the last node of the last batch of the pool.
func (t *turns) recall(pool *nodesv1.NodePool) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, known := t.of[pool.Name]; known {
		return last
	}
	if pool.Status.Rollout == nil || len(pool.Status.Rollout.Nodes) == 0 {
		return ""
	}
	return membership.LastOf(pool.Status.Rollout.Nodes, "")
}

// keep remembers the batch that a pass has decided on, where it is another one than that of the status. What is left of a batch is a part of it.
func (t *turns) keep(pool *nodesv1.NodePool, next *nodesv1.RolloutStatus, after string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if next == nil {
		delete(t.of, pool.Name)
		return
	}
	if t.of == nil {
		t.of = map[string]string{}
	}
	if before := pool.Status.Rollout; len(next.Nodes) > 0 && (before == nil || !slices.Contains(before.Nodes, next.Nodes[0])) {
		after = membership.LastOf(next.Nodes, after)
	}
	t.of[pool.Name] = after
}

// drop forgets a pool that is gone.
func (t *turns) drop(pool string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, pool)
}
