// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/status"
)

// What Windlass was doing when an event happened.
const (
	actionOperate   = "Operate"
	actionReconcile = "Reconcile"
	actionDelete    = "Delete"
)

// succeeded reports what an operation has done. A machine that is created and started gets one event, because each is a write.
func succeeded(vm *cloudnativev1alpha1.VirtualMachine, at kube.Placement, op operation.Progress) []event.Event {
	var reason, note string
	switch op.Reason {
	case cloudnativev1alpha1.ReasonProvisioning:
		reason, note = cloudnativev1alpha1.ReasonCreated, fmt.Sprintf("Created the machine on host %q", at.Host)
		if op.Adopted {
			reason, note = cloudnativev1alpha1.ReasonAdopted, fmt.Sprintf("Adopted the machine that already existed on host %q", at.Host)
		}
		if op.Has(operation.Start) {
			note += " and started it"
		}
	case cloudnativev1alpha1.ReasonStarting:
		reason, note = cloudnativev1alpha1.ReasonStarted, "Started the machine"
	case cloudnativev1alpha1.ReasonStopping:
		reason, note = cloudnativev1alpha1.ReasonStopped, "Turned the machine off"
	case cloudnativev1alpha1.ReasonSuspending:
		reason, note = cloudnativev1alpha1.ReasonSuspended, "Suspended the machine"
	case cloudnativev1alpha1.ReasonResuming:
		reason, note = cloudnativev1alpha1.ReasonResumed, "Resumed the machine"
	case cloudnativev1alpha1.ReasonRestarting:
		reason, note = cloudnativev1alpha1.ReasonRestarted, "Restarted the machine"
	case cloudnativev1alpha1.ReasonReplacing:
		reason, note = cloudnativev1alpha1.ReasonReplaced, "Replaced the container to apply the changed spec"
	case cloudnativev1alpha1.ReasonResizing:
		reason, note = cloudnativev1alpha1.ReasonResized, "Resized the machine to "+sizeText(op.Spec.Resources)
	case cloudnativev1alpha1.ReasonDeleting:
		reason, note = cloudnativev1alpha1.ReasonDeleted, "Removed the machine"
	default:
		return nil
	}
	return []event.Event{{Regarding: vm, Reason: reason, Action: actionOperate, Note: note}}
}

// failed reports a failure in the words of the host. An orderly shutdown is no reason to warn.
func failed(vm *cloudnativev1alpha1.VirtualMachine, reason, text string) event.Event {
	return event.Event{
		Regarding: vm, Warning: reason != cloudnativev1alpha1.ReasonStopped, Reason: reason, Action: actionOperate, Note: text,
	}
}

// retained reports that a machine stays without its object.
func retained(vm *cloudnativev1alpha1.VirtualMachine, at kube.Placement) event.Event {
	return event.Event{
		Regarding: vm, Reason: cloudnativev1alpha1.ReasonRetained, Action: actionDelete,
		Note: fmt.Sprintf("Left the machine on host %q because deletionPolicy is Retain", at.Host),
	}
}

// announcements are the transitions of conditions that are recorded as events.
func announcements() []status.Announcement {
	return []status.Announcement{
		{Condition: cloudnativev1alpha1.ConditionDriverReady, Status: metav1.ConditionFalse, Warning: true, Action: actionReconcile},
		{Condition: cloudnativev1alpha1.ConditionRestartRequired, Status: metav1.ConditionTrue, Warning: true, Action: actionReconcile},
		{
			Condition: status.Ready, Status: metav1.ConditionFalse, Warning: true, Action: actionReconcile,
			Reasons: []string{
				cloudnativev1alpha1.ReasonSecretNotFound, cloudnativev1alpha1.ReasonSecretForbidden, cloudnativev1alpha1.ReasonSecretInvalid,
				cloudnativev1alpha1.ReasonCapacityExceeded, cloudnativev1alpha1.ReasonHeld,
			},
		},
		{Condition: cloudnativev1alpha1.ConditionRootDiskRefused, Status: metav1.ConditionTrue, Warning: true, Action: actionReconcile},
	}
}
