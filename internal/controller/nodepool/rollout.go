// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"time"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// planRollout returns the batch of nodes that may follow the pool now, and when to look again without being woken up.
func planRollout(pool *nodesv1.NodePool, nodes aggregate, now time.Time) (*nodesv1.RolloutStatus, time.Duration) {
	return membership.NextBatch(pool, nodes.extent(), now)
}

// extent is what a rollout depends on.
func (c *aggregate) extent() membership.Extent {
	return membership.Extent{Members: c.members, Ready: c.ready, Behind: c.behind}
}
