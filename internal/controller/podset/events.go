// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
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

// created tells that the Deployment has been created.
func created(podSet *appsv1alpha1.PodSet) *event.Event {
	return &event.Event{
		Regarding: podSet, Reason: appsv1alpha1.ReasonDeploymentCreated, Action: actionCreate,
		Note: fmt.Sprintf("Created Deployment %q with %s", podSet.Name, pods(podSet.Spec.Size)),
	}
}

// scaled tells that the number of pods has been changed, and nothing else.
func scaled(podSet *appsv1alpha1.PodSet, from int32) *event.Event {
	return &event.Event{
		Regarding: podSet, Reason: appsv1alpha1.ReasonScaled, Action: actionScale,
		Note: fmt.Sprintf("Scaled from %d to %d", from, podSet.Spec.Size),
	}
}

// updated tells that the Deployment follows a changed PodSet.
func updated(podSet *appsv1alpha1.PodSet) *event.Event {
	return &event.Event{
		Regarding: podSet, Reason: appsv1alpha1.ReasonDeploymentUpdated, Action: actionUpdate,
		Note: fmt.Sprintf("Updated Deployment %q to what the PodSet describes", podSet.Name),
	}
}

// updatedAndScaled tells that the Deployment follows a PodSet that changed in its number of pods among other things.
func updatedAndScaled(podSet *appsv1alpha1.PodSet, from int32) *event.Event {
	told := updated(podSet)
	told.Note += fmt.Sprintf(", and scaled it from %d to %d", from, podSet.Spec.Size)
	return told
}

// repairedDeployment tells that somebody else's change of the Deployment has been changed back.
func repairedDeployment(podSet *appsv1alpha1.PodSet, live *appsv1.Deployment) *event.Event {
	if from := or(live.Spec.Replicas, 1); from != podSet.Spec.Size {
		return repaired(podSet, fmt.Sprintf("Changed Deployment %q back to what the PodSet describes, from %d to %s",
			live.Name, from, pods(podSet.Spec.Size)))
	}
	return repaired(podSet, fmt.Sprintf("Changed Deployment %q back to what the PodSet describes", live.Name))
}

// repaired tells that somebody else's change of a child has been changed back.
func repaired(podSet *appsv1alpha1.PodSet, note string) *event.Event {
	return &event.Event{
		Regarding: podSet, Reason: appsv1alpha1.ReasonDriftRepaired, Action: actionRepair, Note: note,
	}
}

// transitions returns the events for troubles that a pass has met and the one before has not, or not in these words.
func transitions(before, after *appsv1alpha1.PodSet) []event.Event {
	var list []event.Event
	if note, ok := turned(before, after, appsv1alpha1.ConditionChildConflict, appsv1alpha1.ReasonNameTaken); ok {
		list = append(list, event.Event{
			Regarding: after, Warning: true, Reason: appsv1alpha1.ReasonNameTaken, Action: actionApply, Note: note,
		})
	}
	if note, ok := turned(before, after, status.Stalled, appsv1alpha1.ReasonChildRefused); ok {
		list = append(list, event.Event{
			Regarding: after, Warning: true, Reason: appsv1alpha1.ReasonChildRefused, Action: actionApply, Note: note,
		})
	}
	return list
}

// explained returns the event for pods that are missing because of the pool, unless Ready has said so before: numbers and names
// in its message change, and are no news.
func explained(pass *scope) []event.Event {
	if pass.seen == nil || pass.seen.cause == nil {
		return nil
	}
	was := apimeta.FindStatusCondition(pass.before.Status.Conditions, status.Ready)
	is := apimeta.FindStatusCondition(pass.podSet.Status.Conditions, status.Ready)
	if is == nil || was != nil && was.Reason == is.Reason {
		return nil
	}
	return []event.Event{{
		Regarding: pass.podSet, Warning: true, Reason: is.Reason, Action: actionWait, Note: is.Message,
	}}
}

// turned reports whether a condition has become True for the reason, and returns its message.
func turned(before, after *appsv1alpha1.PodSet, conditionType, reason string) (string, bool) {
	now := apimeta.FindStatusCondition(after.Status.Conditions, conditionType)
	if now == nil || now.Status != metav1.ConditionTrue || now.Reason != reason {
		return "", false
	}
	was := apimeta.FindStatusCondition(before.Status.Conditions, conditionType)
	same := was != nil && was.Status == now.Status && was.Reason == now.Reason && was.Message == now.Message
	return now.Message, !same
}
