// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/status"
)

// announcements declares which conditions are told by events when they become as they should not be.
func announcements() []status.Announcement {
	trouble := func(condition string, value metav1.ConditionStatus, reasons ...string) status.Announcement {
		return status.Announcement{Condition: condition, Status: value, Reasons: reasons, Warning: true, Action: "Reconcile"}
	}
	return []status.Announcement{
		trouble(nodesv1.ConditionRuntimeClassReady, metav1.ConditionFalse, nodesv1.ReasonNameConflict, nodesv1.ReasonRuntimeClassRefused),
		trouble(nodesv1.ConditionAdmissionReady, metav1.ConditionFalse,
			nodesv1.ReasonAdmissionUnsupported, nodesv1.ReasonAdmissionRefused, nodesv1.ReasonNameConflict),
		trouble(nodesv1.ConditionHandlerAvailable, metav1.ConditionFalse, nodesv1.ReasonHandlerMissing),
		trouble(nodesv1.ConditionConflicted, metav1.ConditionTrue, nodesv1.ReasonKeysHeldElsewhere),
		trouble(nodesv1.ConditionSafetyBrake, metav1.ConditionTrue, nodesv1.ReasonTooManyLeaving),
		trouble(nodesv1.ConditionDrained, metav1.ConditionFalse, nodesv1.ReasonDrainBlocked),
		trouble(nodesv1.ConditionRolledOut, metav1.ConditionFalse, nodesv1.ReasonTooManyUnavailable),
		trouble(status.Reconciling, metav1.ConditionTrue, nodesv1.ReasonInUse),
		trouble(status.Stalled, metav1.ConditionTrue, nodesv1.ReasonInvalidSelector),
	}
}

// counted tells how the number of nodes has changed since the status was written, and which pods are about to be deleted.
func counted(pool *nodesv1.NodePool, seen *observation) []event.Event {
	var events []event.Event
	was, is := pool.Status.NodeCount, seen.nodes.members
	switch {
	case is > was:
		events = append(events, event.Event{
			Regarding: pool, Reason: nodesv1.ReasonNodesJoined, Action: "Join",
			Note: fmt.Sprintf("%s joined: the pool has %s", inNodes(int(is-was)), inNodes(int(is))),
		})
	case is < was:
		events = append(events, event.Event{
			Regarding: pool, Reason: nodesv1.ReasonNodesLeft, Action: "Leave",
			Note: fmt.Sprintf("%s left: the pool has %s", inNodes(int(was-is)), inNodes(int(is))),
		})
	}
	if seen.podsToEvict > 0 && pool.Status.PodsToEvict == 0 && !pool.Spec.DryRun {
		events = append(events, event.Event{
			Regarding: pool, Warning: true, Reason: nodesv1.ReasonWouldEvict, Action: "Taint",
			Note: fmt.Sprintf("The pool's new NoExecute taints delete running pods on %s that do not tolerate them: %d",
				inNodes(int(is)), seen.podsToEvict),
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

// drainTimedOut tells that a node leaves with pods of the pool still running.
func drainTimedOut(pool *nodesv1.NodePool, entry nodesv1.DrainingNode) event.Event {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: entry.Node, UID: entry.UID}}
	return event.Event{
		Regarding: pool, Related: node, Warning: true, Reason: nodesv1.ReasonDrainTimedOut, Action: "Drain",
		Note: fmt.Sprintf("Stopped draining node %s after the timeout: %s still running", node.Name, inPods(int(entry.PodsLeft))),
	}
}

// cleaned tells what a deleted pool has taken off nodes.
func cleaned(pool *nodesv1.NodePool) event.Event {
	note := "Removed the pool's labels and taints from every node"
	if pool.Spec.DeletionPolicy == nodesv1.DeletionOrphan {
		note = "Removed the pool's membership labels from every node, and left its other labels, annotations and taints"
	}
	return event.Event{Regarding: pool, Reason: nodesv1.ReasonCleaned, Action: "Clean", Note: note}
}
