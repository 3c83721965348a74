// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/status"
)

// What Windlass was doing when an event happened.
const (
	actionCreate = "Create"
	actionScale  = "Scale"
	actionUpdate = "Update"
	actionRepair = "Repair"
	actionApply  = "Apply"
	actionWait   = "Wait"
)

// created says that the Deployment was created.
func created(podSet *appsv1alpha1.PodSet) *event.Event {
	return &event.Event{
		Regarding: podSet, Reason: appsv1alpha1.ReasonDeploymentCreated, Action: actionCreate,
		Note: fmt.Sprintf("Created Deployment %q with %s", podSet.Name, pods(podSet.Spec.Size)),
	}
}

// scaled says that the number of pods was changed, and nothing else.
func scaled(podSet *appsv1alpha1.PodSet, from int32) *event.Event {
	return &event.Event{
		Regarding: podSet, Reason: appsv1alpha1.ReasonScaled, Action: actionScale,
		Note: fmt.Sprintf("Scaled from %d to %d", from, podSet.Spec.Size),
	}
}

// updated says that the Deployment was changed because the PodSet was.
func updated(podSet *appsv1alpha1.PodSet) *event.Event {
	return &event.Event{
		Regarding: podSet, Reason: appsv1alpha1.ReasonDeploymentUpdated, Action: actionUpdate,
		Note: fmt.Sprintf("Updated Deployment %q", podSet.Name),
	}
}

// updatedAndScaled says that the Deployment was changed because the PodSet was, its size among other things.
func updatedAndScaled(podSet *appsv1alpha1.PodSet, from int32) *event.Event {
	told := updated(podSet)
	told.Note += fmt.Sprintf(" and scaled it from %d to %d", from, podSet.Spec.Size)
	return told
}

// repairedDeployment says that a change of the Deployment was reverted.
func repairedDeployment(podSet *appsv1alpha1.PodSet, live *appsv1.Deployment) *event.Event {
	if from := or(live.Spec.Replicas, 1); from != podSet.Spec.Size {
		return repaired(podSet, fmt.Sprintf("Reverted Deployment %q to the PodSet: scaled from %d to %s",
			live.Name, from, pods(podSet.Spec.Size)))
	}
	return repaired(podSet, fmt.Sprintf("Reverted Deployment %q to the PodSet", live.Name))
}

// repaired says that a change of a child was reverted.
func repaired(podSet *appsv1alpha1.PodSet, note string) *event.Event {
	return &event.Event{
		Regarding: podSet, Reason: appsv1alpha1.ReasonDriftRepaired, Action: actionRepair, Note: note,
	}
}

// announcements declares the transitions of conditions that are recorded: an object in the way, a child that is refused or too large, and pods
// that do not start because of the pool, or until a person acts.
func announcements() []status.Announcement {
	return []status.Announcement{
		{
			Condition: appsv1alpha1.ConditionChildConflict, Status: metav1.ConditionTrue,
			Warning: true, Action: actionApply,
		},
		{
			Condition: status.Stalled, Status: metav1.ConditionTrue,
			Reasons: []string{appsv1alpha1.ReasonChildRefused, appsv1alpha1.ReasonTemplateTooLarge}, Warning: true, Action: actionApply,
		},
		{
			Condition: status.Ready, Status: metav1.ConditionFalse, Reasons: append(appsv1alpha1.PoolReasons(),
				appsv1alpha1.ReasonFailedCreate, appsv1alpha1.ReasonProgressDeadlineExceeded),
			Warning: true, Action: actionWait,
		},
	}
}
