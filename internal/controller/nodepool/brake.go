// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"strconv"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// The safety brake holds the nodes that leave when they are brakeNodes or more, and more than brakePercent of those that carry the
// pool.
const (
	brakeNodes   = 3
	brakePercent = 30
)

// planBrake reports whether so many nodes are leaving at once that a person has to acknowledge it, and nobody has. No brake holds the
// nodes of a pool that is being deleted: that is acknowledgement enough.
func planBrake(pool *nodesv1.NodePool, nodes aggregate) bool {
	leaving, carrying := len(nodes.leaving), len(nodes.carrying)
	return pool.DeletionTimestamp == nil && leaving >= brakeNodes && leaving*100 > carrying*brakePercent && !acknowledged(pool)
}

// acknowledged reports whether a person has acknowledged what the present spec leads to.
func acknowledged(pool *nodesv1.NodePool) bool {
	return pool.Annotations[nodesv1.AcknowledgeAnnotation] == strconv.FormatInt(pool.Generation, 10)
}

// usedUp reports whether there is an acknowledgement and no node is leaving any more: it counted for those that have left.
func usedUp(pool *nodesv1.NodePool, nodes aggregate) bool {
	_, given := pool.Annotations[nodesv1.AcknowledgeAnnotation]
	return given && len(nodes.leaving) == 0
}
