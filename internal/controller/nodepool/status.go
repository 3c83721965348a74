// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
)

// conditions returns what Ready depends on. A pool that bounds no rollout or drains nothing has no condition for that.
func conditions(pool *nodesv1.NodePool) status.Declaration {
	declared := status.Declaration{
		{Type: nodesv1.ConditionSafetyBrake, Negative: true},
		{Type: nodesv1.ConditionRuntimeClassReady},
		{Type: nodesv1.ConditionHandlerAvailable},
		{Type: nodesv1.ConditionConflicted, Negative: true},
	}
	if pool.Spec.Drain != nil {
		declared = append(declared, status.Declared{Type: nodesv1.ConditionDrained})
	}
	if pool.Spec.Rollout != nil {
		declared = append(declared, status.Declared{Type: nodesv1.ConditionRolledOut})
	}
	return append(declared,
		status.Declared{Type: nodesv1.ConditionNodesSynced},
		status.Declared{Type: nodesv1.ConditionAdmissionReady, Info: true})
}

// describe writes what the pass has observed and done into the pool's status, and returns the marks of its conditions.
func describe(s *scope, outcome flow.Outcome) *status.Marks {
	marks := conditions(s.Object).Begin()
	if !s.Object.Spec.DryRun {
		s.Object.Status.DryRun = nil
	}
	if s.seen == nil {
		return marks
	}
	countNodes(s.Object, s.seen)
	markNodes(marks, s, outcome)
	markConflicts(marks, s.seen.nodes)
	markHandler(marks, s.decided.class.handler, s.seen.nodes)
	markAdmission(marks, s)
	markRollout(marks, s)
	markDrain(marks, s.Object)
	markClass(marks, s, outcome)
	markBrake(marks, s)
	return marks
}

func markClass(marks *status.Marks, s *scope, outcome flow.Outcome) {
	seen, pool := s.seen.runtimeClass, s.Object
	pool.Status.Handler = ""
	switch {
	case outcome.Reason() == nodesv1.ReasonRuntimeClassRefused:
		marks.False(nodesv1.ConditionRuntimeClassReady, outcome.Reason(), outcome.Message())
	case seen == nil && pool.Spec.DryRun:
		marks.Unknown(nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonDryRun, "a dry run writes no RuntimeClass")
	case seen == nil && pool.DeletionTimestamp != nil:
		marks.Unknown(nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonRuntimeClassPending, "a pool that is being deleted gets no new RuntimeClass")
	case seen == nil && status.IsPaused(pool):
		marks.False(nodesv1.ConditionRuntimeClassReady, status.ReasonPaused, "no RuntimeClass is written for a paused pool") // and pods are refused
	case seen == nil:
		marks.False(nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonRuntimeClassPending,
			fmt.Sprintf("waiting for RuntimeClass %s to be written", pool.Name))
	case !metav1.IsControlledBy(seen, pool):
		message := fmt.Sprintf("RuntimeClass %s exists and does not belong to the pool: pods cannot choose the pool by it", pool.Name)
		marks.False(nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonNameConflict, message)
		marks.Stall(nodesv1.ReasonNameConflict, message)
	default:
		pool.Status.Handler = seen.Handler
		marks.True(nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonRuntimeClassReady,
			fmt.Sprintf("RuntimeClass %s has handler %s", pool.Name, seen.Handler))
	}
}

func countNodes(pool *nodesv1.NodePool, seen *observation) {
	nodes := seen.nodes
	pool.Status.NodeCount = nodes.members
	pool.Status.ReadyNodeCount = nodes.ready
	pool.Status.SharedNodeCount = nodes.shared
	pool.Status.ConflictedNodeCount = nodes.conflicted
	pool.Status.SyncedNodeCount = nodes.members - nodes.unsynced
	pool.Status.PodsToEvict = seen.podsToEvict
	pool.Status.Capacity = nodes.capacity
	pool.Status.Allocatable = nodes.allocatable
	pool.Status.NeighborTaints = neighborTaints(nodes)
}

func markNodes(marks *status.Marks, s *scope, outcome flow.Outcome) {
	nodes := s.seen.nodes
	switch {
	case outcome.Reason() == nodesv1.ReasonInUse:
		marks.False(nodesv1.ConditionNodesSynced, outcome.Reason(), outcome.Message())
	case s.Object.DeletionTimestamp != nil && len(nodes.carrying) > 0:
		marks.False(nodesv1.ConditionNodesSynced, nodesv1.ReasonCleaningNodes, "waiting for "+toClean(nodes))
	case len(nodes.pending) > 0 && s.Object.Spec.DryRun:
		marks.False(nodesv1.ConditionNodesSynced, nodesv1.ReasonDryRun, "a dry run changes no node: see status.dryRun")
	case len(nodes.pending) > 0:
		marks.False(nodesv1.ConditionNodesSynced, nodesv1.ReasonSyncingNodes,
			fmt.Sprintf("waiting for %s: %s", inNodes(len(nodes.pending)), examples(nodes.pending)))
	case nodes.members == 0:
		message := fmt.Sprintf("no node has the label %s or is selected by the pool", nodesv1.RoleLabel(s.Object.Name))
		marks.True(nodesv1.ConditionNodesSynced, nodesv1.ReasonNoNodes, message)
		marks.Reach(nodesv1.ReasonNoNodes, message)
		return
	case nodes.members == 1:
		marks.True(nodesv1.ConditionNodesSynced, nodesv1.ReasonNodesSynced, "1 node matches the pool")
	default:
		marks.True(nodesv1.ConditionNodesSynced, nodesv1.ReasonNodesSynced, fmt.Sprintf("%d nodes match the pool", nodes.members))
	}
	marks.Reach(status.ReasonReady, nodesAre(int(nodes.members))+" up to date")
}

func markConflicts(marks *status.Marks, nodes aggregate) {
	if len(nodes.conflicts) == 0 {
		marks.False(nodesv1.ConditionConflicted, nodesv1.ReasonNoConflict, "")
		return
	}
	message := conflictMessage(nodes.conflicts)
	marks.True(nodesv1.ConditionConflicted, nodesv1.ReasonKeysHeldElsewhere, message)
	marks.Stall(nodesv1.ReasonKeysHeldElsewhere, message)
}

// markHandler says whether the members offer the handler of the RuntimeClass. A node that reports no handlers, because its kubelet or
// its runtime is too old to, is given the benefit of the doubt.
func markHandler(marks *status.Marks, handler string, nodes aggregate) {
	lacking := nodes.lacking(handler)
	switch {
	case len(lacking) > 0:
		message := fmt.Sprintf("handler %s is missing on %s: %s", handler, inNodes(len(lacking)), examples(lacking))
		marks.False(nodesv1.ConditionHandlerAvailable, nodesv1.ReasonHandlerMissing, message)
		marks.Stall(nodesv1.ReasonHandlerMissing, message)
	case nodes.reporting == 0:
		marks.True(nodesv1.ConditionHandlerAvailable, nodesv1.ReasonHandlersUnknown, "no member node reports its runtime handlers")
	default:
		marks.True(nodesv1.ConditionHandlerAvailable, nodesv1.ReasonHandlerAvailable,
			fmt.Sprintf("handler %s is available on %s", handler, inNodes(nodes.reporting)))
	}
}

// markBrake comes last: what the brake holds, only a person can let go.
func markBrake(marks *status.Marks, s *scope) {
	if !s.decided.braked() {
		marks.False(nodesv1.ConditionSafetyBrake, nodesv1.ReasonBrakeReleased, "")
		return
	}
	held, nodes := s.decided.held, s.seen.nodes
	carrying := len(nodes.vouched(nodes.carrying)) - len(nodes.vouched(nodes.leaving)) + len(held)
	message := fmt.Sprintf("%d of the %d nodes that carry this pool would leave it at once: %s; annotate the pool with %s=%d to let them leave",
		len(held), carrying, examples(held), nodesv1.AcknowledgeAnnotation, s.Object.Generation)
	marks.True(nodesv1.ConditionSafetyBrake, nodesv1.ReasonTooManyLeaving, message)
	marks.Stall(nodesv1.ReasonTooManyLeaving, message)
}

// markRollout says how far a rollout has come that is bounded.
func markRollout(marks *status.Marks, s *scope) {
	bound, rollout, nodes := s.Object.Spec.Rollout, s.Object.Status.Rollout, s.seen.nodes
	if bound == nil {
		return
	}
	if rollout == nil {
		marks.True(nodesv1.ConditionRolledOut, nodesv1.ReasonRolledOut, "")
		return
	}
	later := fmt.Sprintf("nodes in later batches: %d", rollout.WaitingNodeCount)
	switch {
	case len(rollout.Nodes) > 0:
		marks.False(nodesv1.ConditionRolledOut, nodesv1.ReasonRollingOut,
			fmt.Sprintf("waiting for %s in this batch: %s; %s", inNodes(len(rollout.Nodes)), examples(rollout.Nodes), later))
	case nodes.extent().TooManyUnavailable(bound):
		marks.False(nodesv1.ConditionRolledOut, nodesv1.ReasonTooManyUnavailable,
			fmt.Sprintf("waiting for members to become Ready: not Ready are %d, and maxUnavailable is %s; %s",
				nodes.members-nodes.ready, bound.MaxUnavailable, later))
	default:
		marks.False(nodesv1.ConditionRolledOut, nodesv1.ReasonRolloutPausing, "waiting for the pause between two batches; "+later)
	}
}

// markDrain says how far the nodes are drained that left a pool with spec.drain.
func markDrain(marks *status.Marks, pool *nodesv1.NodePool) {
	if pool.Spec.Drain == nil {
		return
	}
	var names, blocked []string
	var refusal string
	left := 0
	for _, entry := range undrained(pool.Status.Draining) {
		names = append(names, entry.Node)
		blocked = append(blocked, entry.Blocked...)
		if refusal == "" && entry.Refusal != "" {
			refusal = "; the API server says: " + entry.Refusal
		}
		left += int(entry.PodsLeft)
	}
	switch {
	case len(blocked) > 0:
		marks.False(nodesv1.ConditionDrained, nodesv1.ReasonDrainBlocked,
			fmt.Sprintf("waiting for %s whose eviction is refused: %s%s", inPods(len(blocked)), examples(blocked), refusal))
	case len(names) > 0:
		marks.False(nodesv1.ConditionDrained, nodesv1.ReasonDraining,
			fmt.Sprintf("waiting for %s to end on %s: %s", inPods(left), inNodes(len(names)), examples(names)))
	default:
		marks.True(nodesv1.ConditionDrained, nodesv1.ReasonNothingToDrain, "")
	}
}

// conflictMessage names the keys, their owners, and on how many nodes.
func conflictMessage(conflicts map[membership.Conflict]int) string {
	keys := slices.SortedFunc(maps.Keys(conflicts), func(a, b membership.Conflict) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Holder, b.Holder))
	})
	lines := make([]string, 0, len(keys))
	for _, conflict := range keys {
		holder := "another owner"
		if conflict.Holder != "" {
			holder = "pool " + conflict.Holder
		}
		lines = append(lines, fmt.Sprintf("%s is held by %s on %s", conflict.Key, holder, inNodes(conflicts[conflict])))
	}
	return examplesOf(lines, "; ")
}
