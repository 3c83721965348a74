// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

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

// Brakes reports whether so many of the nodes that carry the pool would leave at once that a person has to acknowledge it, and nobody has.
func Brakes(pool *nodesv1.NodePool, leaving, carrying int) bool {
	return TooManyLeave(pool, leaving, carrying) && !Acknowledged(pool)
}

// TooManyLeave reports whether so many of the nodes that carry the pool are leaving at once that a person has to acknowledge it. No brake holds
// the nodes of a pool that is being deleted: that is acknowledgement enough.
func TooManyLeave(pool *nodesv1.NodePool, leaving, carrying int) bool {
	return pool.DeletionTimestamp == nil && leaving >= brakeNodes && leaving*100 > carrying*brakePercent
}

// Acknowledged reports whether the pool carries the acknowledgement of what its present spec leads to.
func Acknowledged(pool *nodesv1.NodePool) bool {
	return pool.Annotations[nodesv1.AcknowledgeAnnotation] == strconv.FormatInt(pool.Generation, 10)
}
