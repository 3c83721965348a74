// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clock"
)

// Extent is what a rollout depends on.
type Extent struct {
	// Members is how many nodes the pool has, and Ready how many of them are ready.
	Members, Ready int32
	// Behind are the names, sorted, of the members that have to follow.
	Behind []string
	// After is the name of the last node of the batch before, empty if it is not known.
	After string
}

// NextBatch returns the batch of nodes that may follow the pool now, nil where no node has to wait, and when to look again without
// being woken up. Batches do not overlap: the next one begins when every node of this one has followed, with the node that comes next by name. Nodes
// that another writer changes again and again would otherwise be in every batch. The node controller goes
// by the batch that has been written to the status, so that neither a crash nor a second instance can let through more.
func NextBatch(pool *nodesv1.NodePool, nodes Extent, now time.Time) (*nodesv1.RolloutStatus, time.Duration) {
	bound := pool.Spec.Rollout
	if bound == nil || len(nodes.Behind) == 0 {
		return nil, 0
	}
	next := &nodesv1.RolloutStatus{}
	if before := pool.Status.Rollout; before != nil {
		next.TurnTime = before.TurnTime
		next.Nodes = slices.DeleteFunc(slices.Clone(before.Nodes), func(name string) bool {
			_, behind := slices.BinarySearch(nodes.Behind, name)
			return !behind
		})
	}
	var after time.Duration
	if len(next.Nodes) == 0 && !nodes.TooManyUnavailable(bound) {
		if after = pauseLeft(bound, next.TurnTime, now); after <= 0 {
			next.Nodes = nodes.batch(maxConcurrent(bound, nodes))
			next.TurnTime = new(metav1.NewTime(now.Truncate(time.Second)))
			after = 0
		}
	}
	next.WaitingNodeCount = int32(min(max(len(nodes.Behind)-len(next.Nodes), 0), 1<<31-1))
	return next, after
}

// batch returns the names, sorted, of the next n nodes that are behind. After the last node by name comes the first.
func (e Extent) batch(n int) []string {
	i := countUpTo(e.Behind, e.After)
	order := slices.Concat(e.Behind[i:], e.Behind[:i])
	return slices.Sorted(slices.Values(order[:min(len(order), n)]))
}

// LastOf returns which node of a batch, by sorted names, is its last one, where the batch before ended after that node.
func LastOf(batch []string, after string) string {
	if i := countUpTo(batch, after); i > 0 { // it began again with the first node
		return batch[i-1]
	}
	return batch[len(batch)-1]
}

// countUpTo returns how many of the sorted names come up to that one.
func countUpTo(sorted []string, name string) int {
	i, found := slices.BinarySearch(sorted, name)
	if found {
		i++
	}
	return i
}

func pauseLeft(bound *nodesv1.Rollout, turned *metav1.Time, now time.Time) time.Duration {
	if turned == nil {
		return 0
	}
	pause := time.Duration(bound.PauseSeconds) * time.Second
	return clock.Left(turned.Add(pause), pause, now)
}

// maxConcurrent returns how many nodes are in a batch. What the schema does not let through counts as one.
func maxConcurrent(bound *nodesv1.Rollout, nodes Extent) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&bound.MaxConcurrent, int(nodes.Members), true)
	if err != nil {
		return 1
	}
	return min(max(n, 1), nodesv1.MaxRolloutNodes)
}

// TooManyUnavailable reports whether more members are not ready than the rollout allows.
func (e Extent) TooManyUnavailable(bound *nodesv1.Rollout) bool {
	if bound.MaxUnavailable == nil {
		return false
	}
	allowed, err := intstr.GetScaledValueFromIntOrPercent(bound.MaxUnavailable, int(e.Members), false)
	return err == nil && int(e.Members-e.Ready) > allowed
}
