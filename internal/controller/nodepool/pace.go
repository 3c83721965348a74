// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"sync"
	"time"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
)

// A count visits every node of its pool. If its nodes were counted at a fixed rate, a pool twice as large would be counted twice as
// often, and counting would cost four times as much.
const (
	// settleTime is how long changes of nodes are collected before the pool is counted again: a thousand joins are a few
	// counts, not a thousand.
	settleTime = 500 * time.Millisecond
	// settlePerNode is the share of that time of each node that is still to be written. Nodes take longer to write, so the last
	// count, which others wait for, is as soon after the last node as that of a small pool.
	settlePerNode = 500 * time.Microsecond
	// longestSettle is how old the counts in the status of a large pool can be.
	longestSettle = 3 * time.Second
)

// settle returns how long changes of nodes are collected while so many nodes are still to be written.
func settle(due int) time.Duration {
	return min(max(settleTime, time.Duration(due)*settlePerNode), longestSettle)
}

// due returns how many nodes the node controller can write before this controller has to decide again. It is none where the next count
// decides which node comes next: that count must not be late.
func due(pool *nodesv1.NodePool, seen *observation, d decision) int {
	stands := status.IsPaused(pool) || pool.Spec.DryRun
	switch {
	case d.braked(), seen.users > 0, pool.DeletionTimestamp == nil && (stands || d.rollout != nil):
		return 0
	case membership.Evicts(pool) && len(seen.nodes.leaving) > 0: // only a few are drained at a time
		return 0
	}
	return len(seen.nodes.pending)
}

// pace holds how many nodes of each pool were due when it was last counted. The zero value knows of no pool.
type pace struct {
	mu  sync.Mutex
	due map[string]int // by pool
}

// settle returns how long changes of nodes of the pool are collected.
func (p *pace) settle(pool string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return settle(p.due[pool])
}

// keep remembers how many nodes of the pool are due.
func (p *pace) keep(pool string, due int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.due == nil {
		p.due = map[string]int{}
	}
	p.due[pool] = due
}

// drop forgets a pool that is gone.
func (p *pace) drop(pool string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.due, pool)
}
