// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// The safety brake takes hold when brakeNodes or more nodes, and more than brakePercent of those that carry the pool, would
// leave at once.
const (
	brakeNodes   = 3
	brakePercent = 30
)

// braked reports whether so many nodes are leaving that somebody has to say yes, and nobody has.
func braked(pool *nodesv1.NodePool, nodes census) bool {
	leaving, carrying := len(nodes.leaving), len(nodes.carrying)
	return leaving >= brakeNodes && leaving*100 > carrying*brakePercent && !acknowledged(pool)
}

// acknowledged reports whether somebody has said yes to what the present spec leads to.
func acknowledged(pool *nodesv1.NodePool) bool {
	return pool.Annotations[nodesv1.AcknowledgeAnnotation] == strconv.FormatInt(pool.Generation, 10)
}

// clearLeavers grants clearances to the nodes that left the pool, unless they have to be drained first or the brake holds them. No
// brake holds the nodes of a pool that is being deleted.
func (r *Reconciler) clearLeavers(s *scope) {
	if s.pool.DeletionTimestamp == nil && braked(s.pool, s.seen.nodes) {
		r.clearances.Withdraw(s.pool.Name)
		return
	}
	r.clearances.Grant(s.pool.Name, mayLeave(s.pool, s.seen.nodes))
}

// letLeave clears the nodes that left. An acknowledgement is used up when the nodes that it is about have left.
func (r *Reconciler) letLeave(ctx context.Context, s *scope) flow.Outcome {
	r.clearLeavers(s)
	if _, given := s.pool.Annotations[nodesv1.AcknowledgeAnnotation]; !given || len(s.seen.nodes.leaving) > 0 {
		return flow.Done()
	}
	before := s.pool.DeepCopy()
	s.pool.Annotations = maps.Clone(s.pool.Annotations)
	delete(s.pool.Annotations, nodesv1.AcknowledgeAnnotation)
	status := s.pool.Status
	err := r.client.Patch(ctx, s.pool, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), patch.FieldOwner)
	s.pool.Status = status
	if err != nil {
		return flow.Fail(fmt.Errorf("cannot use up the acknowledgement: %w", err))
	}
	return flow.Done()
}

// brakeMessage says what would happen and how to let it.
func brakeMessage(pool *nodesv1.NodePool, nodes census) string {
	return fmt.Sprintf("%d of the %d nodes that carry this pool would leave it at once: %s; annotate the pool with %s=%d to let them",
		len(nodes.leaving), len(nodes.carrying), examples(nodes.leaving), nodesv1.AcknowledgeAnnotation, pool.Generation)
}
