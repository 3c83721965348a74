// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
)

// giveTurns says in the status which nodes may follow the pool next. The node controller goes by what has been written, so that
// neither a crash nor a second instance can let through more.
func (r *Reconciler) giveTurns(_ context.Context, s *scope) flow.Outcome {
	rollout, after := planRollout(s.pool, s.seen.nodes, r.now())
	s.pool.Status.Rollout = rollout
	s.comeBack(nodesv1.ReasonRolloutPausing, "the pause between two turns", after)
	return flow.Done()
}

// planRollout returns whose turn it is, nil where nobody has to wait for one, and when to look again without being woken up. Turns
// overlap in nothing: as long as a node that had its turn has not followed, nobody else has one.
func planRollout(pool *nodesv1.NodePool, nodes census, now time.Time) (*nodesv1.RolloutStatus, time.Duration) {
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

// maxConcurrent returns how many nodes have their turn at a time. What the schema does not let through counts as one.
func maxConcurrent(bound *nodesv1.Rollout, nodes census) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&bound.MaxConcurrent, int(nodes.members), true)
	if err != nil {
		return 1
	}
	return min(max(n, 1), nodesv1.MaxRolloutNodes)
}

func tooManyUnavailable(bound *nodesv1.Rollout, nodes census) bool {
	if bound.MaxUnavailable == nil {
		return false
	}
	allowed, err := intstr.GetScaledValueFromIntOrPercent(bound.MaxUnavailable, int(nodes.members), false)
	return err == nil && int(nodes.members-nodes.ready) > allowed
}

// markRollout says where the rollout of a pool stands that bounds it.
func markRollout(marks *status.Marks, s *scope) {
	rollout := s.pool.Status.Rollout
	switch {
	case s.pool.Spec.Rollout == nil:
	case rollout == nil:
		marks.True(nodesv1.ConditionRolledOut, nodesv1.ReasonRolledOut, "")
	case len(rollout.Nodes) > 0:
		marks.False(nodesv1.ConditionRolledOut, nodesv1.ReasonRollingOut, fmt.Sprintf("waiting for %s whose turn it is: %s; after them: %s",
			inWords(len(rollout.Nodes)), examples(rollout.Nodes), inWords(int(rollout.WaitingNodeCount))))
	case tooManyUnavailable(s.pool.Spec.Rollout, s.seen.nodes):
		marks.False(nodesv1.ConditionRolledOut, nodesv1.ReasonTooManyUnavailable,
			fmt.Sprintf("waiting for members to become Ready: %s not, and maxUnavailable is %s; behind: %s",
				are(int(s.seen.nodes.members-s.seen.nodes.ready)), s.pool.Spec.Rollout.MaxUnavailable, inWords(int(rollout.WaitingNodeCount))))
	default:
		marks.False(nodesv1.ConditionRolledOut, nodesv1.ReasonRolloutPausing,
			fmt.Sprintf("waiting for the pause between two turns; after it: %s", inWords(int(rollout.WaitingNodeCount))))
	}
}

func are(n int) string {
	if n == 1 {
		return "1 node is"
	}
	return fmt.Sprintf("%d nodes are", n)
}

func clampInt32(n int) int32 { return int32(min(max(n, 0), 1<<31-1)) }
