// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
)

// maxExamples is how many nodes, or keys, a message names.
const maxExamples = 10

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

// project writes into the pool's status what the pass has seen and done.
func project(s *scope, outcome flow.Outcome, now time.Time) {
	marks := conditions(s.pool).Begin()
	if s.observed {
		countNodes(s)
		markNodes(marks, s, outcome)
		markConflicts(marks, s)
		markHandler(marks, s)
		markAdmission(marks, s)
		markRollout(marks, s)
		markDrain(marks, s)
		markClass(marks, s, outcome)
		markBrake(marks, s)
	}
	if !s.pool.Spec.DryRun {
		s.pool.Status.DryRun = nil
	}
	if status.IsPaused(s.pool) {
		marks.Pause()
	}
	outcome.Mark(marks)
	marks.Apply(s.pool, now)
}

func markClass(marks *status.Marks, s *scope, outcome flow.Outcome) {
	seen := s.seen.runtimeClass
	s.pool.Status.Handler = ""
	switch {
	case outcome.Reason() == nodesv1.ReasonRuntimeClassRefused:
		marks.False(nodesv1.ConditionRuntimeClassReady, outcome.Reason(), outcome.Message())
	case seen == nil && s.pool.Spec.DryRun:
		marks.Unknown(nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonDryRun, "a dry run writes no RuntimeClass")
	case seen == nil:
		marks.False(nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonRuntimeClassPending,
			fmt.Sprintf("waiting for RuntimeClass %s to be written", s.pool.Name))
	case !metav1.IsControlledBy(seen, s.pool):
		message := fmt.Sprintf("RuntimeClass %s exists and belongs to somebody else: pods cannot choose this pool by it", s.pool.Name)
		marks.False(nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonNameConflict, message)
		marks.Stall(nodesv1.ReasonNameConflict, message)
	default:
		s.pool.Status.Handler = seen.Handler
		marks.True(nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonRuntimeClassReady,
			fmt.Sprintf("RuntimeClass %s has handler %s", s.pool.Name, seen.Handler))
	}
}

func countNodes(s *scope) {
	nodes := s.seen.nodes
	s.pool.Status.NodeCount = nodes.members
	s.pool.Status.ReadyNodeCount = nodes.ready
	s.pool.Status.SharedNodeCount = nodes.shared
	s.pool.Status.ConflictedNodeCount = nodes.conflicted
	s.pool.Status.SyncedNodeCount = nodes.members - nodes.unsynced
	s.pool.Status.PodsToEvict = s.seen.podsToEvict
	s.pool.Status.Capacity = nodes.capacity
	s.pool.Status.Allocatable = nodes.allocated
	s.pool.Status.NeighborTaints = neighborTaints(nodes)
}

func markNodes(marks *status.Marks, s *scope, outcome flow.Outcome) {
	nodes := s.seen.nodes
	switch {
	case outcome.Reason() == nodesv1.ReasonInUse:
		marks.False(nodesv1.ConditionNodesSynced, outcome.Reason(), outcome.Message())
	case s.pool.DeletionTimestamp != nil && len(nodes.carrying) > 0:
		marks.False(nodesv1.ConditionNodesSynced, nodesv1.ReasonCleaningNodes, "waiting for "+cleaning(nodes))
	case len(nodes.pending) > 0:
		marks.False(nodesv1.ConditionNodesSynced, nodesv1.ReasonSyncingNodes,
			fmt.Sprintf("waiting for %s: %s", inWords(len(nodes.pending)), examples(nodes.pending)))
	case nodes.members == 0:
		marks.True(nodesv1.ConditionNodesSynced, nodesv1.ReasonNoNodes,
			fmt.Sprintf("no node has the label %s or is picked by the pool", nodesv1.RoleLabel(s.pool.Name)))
	default:
		marks.True(nodesv1.ConditionNodesSynced, nodesv1.ReasonNodesSynced,
			fmt.Sprintf("%s as the pool wants", inWords(int(nodes.members))))
	}
}

func markConflicts(marks *status.Marks, s *scope) {
	if len(s.seen.nodes.conflicts) == 0 {
		marks.False(nodesv1.ConditionConflicted, nodesv1.ReasonNoConflict, "")
		return
	}
	message := conflictMessage(s.seen.nodes.conflicts)
	marks.True(nodesv1.ConditionConflicted, nodesv1.ReasonKeysHeldElsewhere, message)
	marks.Stall(nodesv1.ReasonKeysHeldElsewhere, message)
}

// markHandler says whether the members offer the handler of the RuntimeClass. A node that tells no handlers, because its kubelet
// or its runtime is too old to, is given the benefit of the doubt.
func markHandler(marks *status.Marks, s *scope) {
	nodes := s.seen.nodes
	handler := chooseHandler(s.pool, s.seen.runtimeClass, nodes)
	lacking := nodes.lacking(handler)
	switch {
	case len(lacking) > 0:
		message := fmt.Sprintf("handler %s is missing on %s: %s", handler, inWords(len(lacking)), examples(lacking))
		marks.False(nodesv1.ConditionHandlerAvailable, nodesv1.ReasonHandlerMissing, message)
		marks.Stall(nodesv1.ReasonHandlerMissing, message)
	case nodes.reporting == 0:
		marks.True(nodesv1.ConditionHandlerAvailable, nodesv1.ReasonHandlersUnknown, "no member tells its runtime handlers")
	default:
		marks.True(nodesv1.ConditionHandlerAvailable, nodesv1.ReasonHandlerAvailable,
			fmt.Sprintf("handler %s is offered by %s", handler, inWords(nodes.reporting)))
	}
}

// markBrake comes last: what it stops, only a person can let go on.
func markBrake(marks *status.Marks, s *scope) {
	if s.pool.DeletionTimestamp != nil || !braked(s.pool, s.seen.nodes) {
		marks.False(nodesv1.ConditionSafetyBrake, nodesv1.ReasonBrakeReleased, "")
		return
	}
	message := brakeMessage(s.pool, s.seen.nodes)
	marks.True(nodesv1.ConditionSafetyBrake, nodesv1.ReasonTooManyLeaving, message)
	marks.Stall(nodesv1.ReasonTooManyLeaving, message)
}

// markDrain says how far the nodes are drained that left a pool that drains.
func markDrain(marks *status.Marks, s *scope) {
	if s.pool.Spec.Drain == nil {
		return
	}
	var names, blocked []string
	left := 0
	for _, entry := range undrained(s.pool) {
		names = append(names, entry.Node)
		blocked = append(blocked, entry.Blocked...)
		left += int(entry.PodsLeft)
	}
	switch {
	case len(blocked) > 0:
		marks.False(nodesv1.ConditionDrained, nodesv1.ReasonDrainBlocked,
			fmt.Sprintf("waiting for %s whose eviction is refused, mostly by a disruption budget: %s", podsInWords(len(blocked)), examples(blocked)))
	case len(names) > 0:
		marks.False(nodesv1.ConditionDrained, nodesv1.ReasonDraining,
			fmt.Sprintf("waiting for %s to end on %s: %s", podsInWords(left), inWords(len(names)), examples(names)))
	default:
		marks.True(nodesv1.ConditionDrained, nodesv1.ReasonNothingToDrain, "")
	}
}

func cleaning(nodes census) string {
	return fmt.Sprintf("%s to be cleaned", inWords(len(nodes.carrying)))
}

// conflictMessage names the keys, who holds them, and on how many nodes.
func conflictMessage(conflicts map[membership.Conflict]int) string {
	keys := slices.SortedFunc(maps.Keys(conflicts), func(a, b membership.Conflict) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Holder, b.Holder))
	})
	lines := make([]string, 0, len(keys))
	for _, conflict := range keys {
		holder := "somebody else"
		if conflict.Holder != "" {
			holder = "pool " + conflict.Holder
		}
		lines = append(lines, fmt.Sprintf("%s is held by %s on %s",
			conflict.Key, holder, inWords(conflicts[conflict])))
	}
	return examplesOf(lines, "; ")
}

func examples(names []string) string { return examplesOf(slices.Sorted(slices.Values(names)), ", ") }

func examplesOf(list []string, separator string) string {
	if len(list) <= maxExamples {
		return strings.Join(list, separator)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxExamples], separator), len(list)-maxExamples)
}

func podsInWords(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

// inWords is a number of nodes in words.
func inWords(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}
