// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// planBrake reports whether the safety brake holds the nodes that leave.
func planBrake(pool *nodesv1.NodePool, nodes aggregate) bool {
	return membership.Brakes(pool, len(nodes.leaving), len(nodes.carrying))
}

// usedUp reports whether there is an acknowledgement and no node is leaving any more: it counted for those that have left.
func usedUp(pool *nodesv1.NodePool, nodes aggregate) bool {
	_, given := pool.Annotations[nodesv1.AcknowledgeAnnotation]
	return given && len(nodes.leaving) == 0
}
