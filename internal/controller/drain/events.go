// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"fmt"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/event"
)

// podsEvicted tells that pods were evicted from a node that left the pool.
func podsEvicted(pool *nodesv1.NodePool, node string, count int) event.Event {
	pods := "1 pod"
	if count != 1 {
		pods = fmt.Sprintf("%d pods", count)
	}
	return event.Event{
		Regarding: pool, Reason: nodesv1.ReasonPodsEvicted, Action: "Drain",
		Note: fmt.Sprintf("Evicted %s from node %s, which left the pool", pods, node),
	}
}
