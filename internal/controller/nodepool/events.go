// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/status"
)

// transitions tells what the status says now and did not say before.
func transitions(s *scope) []event.Event {
	before, after := s.before, s.pool
	var events []event.Event
	was, is := before.Status.NodeCount, after.Status.NodeCount
	switch {
	case is > was:
		events = append(events, event.Event{
			Regarding: after, Reason: nodesv1.ReasonNodesJoined, Action: "Join",
			Note: fmt.Sprintf("%s joined: the pool has %s", inWords(int(is-was)), inWords(int(is))),
		})
	case is < was:
		events = append(events, event.Event{
			Regarding: after, Reason: nodesv1.ReasonNodesLeft, Action: "Leave",
			Note: fmt.Sprintf("%s left: the pool has %s", inWords(int(was-is)), inWords(int(is))),
		})
	}
	if wouldEvict := after.Status.PodsToEvict; wouldEvict > 0 && before.Status.PodsToEvict == 0 && !after.Spec.DryRun {
		events = append(events, event.Event{
			Regarding: after, Warning: true, Reason: nodesv1.ReasonWouldEvict, Action: "Taint",
			Note: fmt.Sprintf("Counted %d running pods on %s that do not tolerate the pool's new NoExecute taints: they are deleted now",
				wouldEvict, inWords(int(after.Status.NodeCount))),
		})
	}
	return append(events, troubles(before, after)...)
}

// troubles tells the conditions that have become as they should not be.
func troubles(before, after *nodesv1.NodePool) []event.Event {
	var events []event.Event
	for _, trouble := range []struct{ conditionType, reason string }{
		{nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonNameConflict},
		{nodesv1.ConditionRuntimeClassReady, nodesv1.ReasonRuntimeClassRefused},
		{nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionUnsupported},
		{nodesv1.ConditionAdmissionReady, nodesv1.ReasonAdmissionRefused},
		{nodesv1.ConditionAdmissionReady, nodesv1.ReasonNameConflict},
		{nodesv1.ConditionHandlerAvailable, nodesv1.ReasonHandlerMissing},
		{nodesv1.ConditionConflicted, nodesv1.ReasonKeysHeldElsewhere},
		{nodesv1.ConditionSafetyBrake, nodesv1.ReasonTooManyLeaving},
		{nodesv1.ConditionDrained, nodesv1.ReasonDrainBlocked},
		{nodesv1.ConditionRolledOut, nodesv1.ReasonTooManyUnavailable},
		{status.Reconciling, nodesv1.ReasonInUse},
		{status.Stalled, nodesv1.ReasonInvalidSelector},
	} {
		condition := meta.FindStatusCondition(after.Status.Conditions, trouble.conditionType)
		old := meta.FindStatusCondition(before.Status.Conditions, trouble.conditionType)
		if condition == nil || condition.Reason != trouble.reason || (old != nil && old.Reason == trouble.reason) {
			continue
		}
		events = append(events, event.Event{
			Regarding: after, Warning: true, Reason: trouble.reason, Action: "Reconcile", Note: condition.Message,
		})
	}
	return events
}

// classWritten tells what was done to the RuntimeClass.
func classWritten(pool *nodesv1.NodePool, action classAction, wanted class) event.Event {
	e := event.Event{Regarding: pool, Action: "Apply"}
	switch action {
	case classRecreate:
		e.Reason = nodesv1.ReasonRuntimeClassRecreated
		e.Note = fmt.Sprintf("Recreated RuntimeClass %s with handler %s", pool.Name, wanted.handler)
	case classUpdate:
		e.Reason = nodesv1.ReasonRuntimeClassUpdated
		e.Note = fmt.Sprintf("Updated RuntimeClass %s", pool.Name)
	case classCreate, classFine, classForeign:
		e.Reason = nodesv1.ReasonRuntimeClassCreated
		e.Note = fmt.Sprintf("Created RuntimeClass %s with handler %s", pool.Name, wanted.handler)
	}
	return e
}

// podsEvicted tells that pods were evicted from a node that left the pool.
func podsEvicted(pool *nodesv1.NodePool, node string, pods int) event.Event {
	return event.Event{
		Regarding: pool, Reason: nodesv1.ReasonPodsEvicted, Action: "Drain",
		Note: fmt.Sprintf("Evicted %s from node %s, which left the pool", podsInWords(pods), node),
	}
}

// drainTimedOut tells that a node leaves with pods of the pool still running.
func drainTimedOut(pool *nodesv1.NodePool, node *corev1.Node, pods int) event.Event {
	return event.Event{
		Regarding: pool, Related: node, Warning: true, Reason: nodesv1.ReasonDrainTimedOut, Action: "Drain",
		Note: fmt.Sprintf("Let node %s leave with %s still running: the time to drain it is over", node.Name, podsInWords(pods)),
	}
}

// cleaned tells that a deleted pool has left nothing behind.
func cleaned(pool *nodesv1.NodePool) event.Event {
	return event.Event{
		Regarding: pool, Reason: nodesv1.ReasonCleaned, Action: "Clean",
		Note: "Removed the pool's labels and taints from every node",
	}
}
