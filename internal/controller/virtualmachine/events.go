// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
)

// What Windlass was doing when an event happened.
const (
	actionOperate   = "Operate"
	actionReconcile = "Reconcile"
	actionDelete    = "Delete"
	actionSweep     = "Sweep"
)

// succeeded tells what an operation has done, and where: one event for a machine that is made, because each is a write.
func succeeded(vm *cloudnativev1alpha1.VirtualMachine, at location, op progress) []event.Event {
	var reason, note string
	switch op.reason {
	case cloudnativev1alpha1.ReasonProvisioning:
		reason, note = cloudnativev1alpha1.ReasonCreated, fmt.Sprintf("Created the machine on host %q", at.host)
		if op.adopted {
			reason, note = cloudnativev1alpha1.ReasonAdopted, fmt.Sprintf("Adopted the machine that was on host %q already", at.host)
		}
		if op.has(stepStart) {
			note += " and started it"
		}
	case cloudnativev1alpha1.ReasonStarting:
		reason, note = cloudnativev1alpha1.ReasonStarted, "Started the machine"
	case cloudnativev1alpha1.ReasonStopping:
		reason, note = cloudnativev1alpha1.ReasonStopped, "Turned the machine off"
	case cloudnativev1alpha1.ReasonRestarting:
		reason, note = cloudnativev1alpha1.ReasonRestarted, "Restarted the machine"
	case cloudnativev1alpha1.ReasonReplacing:
		reason, note = cloudnativev1alpha1.ReasonReplaced, "Replaced the container by one that the changed spec describes"
	case cloudnativev1alpha1.ReasonResizing:
		reason, note = cloudnativev1alpha1.ReasonResized, "Gave the machine "+sizeText(op.spec.Resources)
	case cloudnativev1alpha1.ReasonDeleting:
		reason, note = cloudnativev1alpha1.ReasonDeleted, "Removed the machine"
	default:
		return nil
	}
	return []event.Event{{Regarding: vm, Reason: reason, Action: actionOperate, Note: note}}
}

// failed tells that something went wrong, in the words of the host.
func failed(vm *cloudnativev1alpha1.VirtualMachine, reason, text string) event.Event {
	return event.Event{Regarding: vm, Warning: true, Reason: reason, Action: actionOperate, Note: text}
}

// retained tells that a machine stays without its object.
func retained(vm *cloudnativev1alpha1.VirtualMachine, at location) event.Event {
	return event.Event{
		Regarding: vm, Reason: cloudnativev1alpha1.ReasonRetained, Action: actionDelete,
		Note: fmt.Sprintf("Left the machine on host %q as deletionPolicy says", at.host),
	}
}

// transitions tells the troubles that a pass has met and the one before has not.
func transitions(before, after *cloudnativev1alpha1.VirtualMachine) []event.Event {
	var events []event.Event
	for _, trouble := range []struct {
		conditionType string
		bad           metav1.ConditionStatus
	}{
		{cloudnativev1alpha1.ConditionDriverReady, metav1.ConditionFalse},
		{cloudnativev1alpha1.ConditionRestartRequired, metav1.ConditionTrue},
	} {
		is := apimeta.FindStatusCondition(after.Status.Conditions, trouble.conditionType)
		was := apimeta.FindStatusCondition(before.Status.Conditions, trouble.conditionType)
		if is == nil || is.Status != trouble.bad || was != nil && was.Status == is.Status && was.Reason == is.Reason {
			continue
		}
		events = append(events, event.Event{
			Regarding: after, Warning: true, Reason: is.Reason, Action: actionReconcile, Note: is.Message,
		})
	}
	return events
}
