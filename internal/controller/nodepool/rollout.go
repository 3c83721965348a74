// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// planRollout returns the batch of nodes that may follow the pool now, nil where no node has to wait, and when to look again without
// being woken up. Batches do not overlap: the next one begins when every node of this one has followed. The node controller goes
// by the batch that has been written to the status, so that neither a crash nor a second instance can let through more.
func planRollout(pool *nodesv1.NodePool, nodes aggregate, now time.Time) (*nodesv1.RolloutStatus, time.Duration) {
	bound := pool.Spec.Rollout
	if bound == nil || len(nodes.behind) == 0 {
		return nil, 0
	}
	next := &nodesv1.RolloutStatus{}
	if before := pool.Status.Rollout; before != nil {
		next.TurnTime = before.TurnTime
		next.Nodes = slices.DeleteFunc(slices.Clone(before.Nodes), func(name string) bool {
			_, behind := slices.BinarySearch(nodes.behind, name)
			return !behind
		})
	}
	var after time.Duration
	if len(next.Nodes) == 0 && !tooManyUnavailable(bound, nodes) {
		if after = pauseLeft(bound, next.TurnTime, now); after <= 0 {
			next.Nodes = slices.Clone(nodes.behind[:min(len(nodes.behind), maxConcurrent(bound, nodes))])
			next.TurnTime = new(metav1.NewTime(now.Truncate(time.Second)))
			after = 0
		}
	}
	next.WaitingNodeCount = clampInt32(len(nodes.behind) - len(next.Nodes))
	return next, after
}

func pauseLeft(bound *nodesv1.Rollout, turned *metav1.Time, now time.Time) time.Duration {
	if turned == nil {
		return 0
	}
	return turned.Add(time.Duration(bound.PauseSeconds) * time.Second).Sub(now)
}

// maxConcurrent returns how many nodes are in a batch. What the schema does not let through counts as one.
func maxConcurrent(bound *nodesv1.Rollout, nodes aggregate) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&bound.MaxConcurrent, int(nodes.members), true)
	if err != nil {
		return 1
	}
	return min(max(n, 1), nodesv1.MaxRolloutNodes)
}

func tooManyUnavailable(bound *nodesv1.Rollout, nodes aggregate) bool {
	if bound.MaxUnavailable == nil {
		return false
	}
	allowed, err := intstr.GetScaledValueFromIntOrPercent(bound.MaxUnavailable, int(nodes.members), false)
	return err == nil && int(nodes.members-nodes.ready) > allowed
}
