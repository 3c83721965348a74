// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/status"
)

// What Windlass was doing when an event happened.
const (
	actionInstall = "Install"
	actionLimit   = "Limit"
)

// installed tells that a pod has got containers. The events stand with the pod, where somebody who wonders about them looks, and
// name the tools.
func installed(step install) []event.Event {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: step.pod.Namespace, Name: step.pod.Name, UID: step.pod.UID},
	}
	list := make([]event.Event, 0, len(step.entries))
	for _, e := range step.entries {
		list = append(list, event.Event{
			Regarding: pod, Related: e.tool, Reason: appsv1alpha1.ReasonToolInstalled, Action: actionInstall,
			Note: fmt.Sprintf("Added ephemeral container %q with image %q for PodBuggerTool %q",
				e.container.Name, e.tool.Spec.Image, e.tool.Name),
		})
	}
	return list
}

// transitions returns the events for what a pass has brought about or met, and the one before has not.
func transitions(before, after *appsv1alpha1.PodBuggerTool) []event.Event {
	var list []event.Event
	if note, ok := turned(before, after, appsv1alpha1.ConditionInstalled, appsv1alpha1.ReasonToolInstalled); ok {
		list = append(list, event.Event{
			Regarding: after, Reason: appsv1alpha1.ReasonToolInstalled, Action: actionInstall, Note: note,
		})
	}
	for _, trouble := range []struct{ conditionType, reason, action string }{
		{status.Stalled, appsv1alpha1.ReasonToolRefused, actionInstall},
		{status.Reconciling, appsv1alpha1.ReasonToolFailed, actionInstall},
		{appsv1alpha1.ConditionLimited, appsv1alpha1.ReasonMaxPodsReached, actionLimit},
	} {
		if note, ok := turned(before, after, trouble.conditionType, trouble.reason); ok {
			list = append(list, event.Event{
				Regarding: after, Warning: true, Reason: trouble.reason, Action: trouble.action, Note: note,
			})
		}
	}
	return list
}

// turned reports whether a condition has become True for the reason, and returns its message. Numbers and names in it change
// later, and are no news.
func turned(before, after *appsv1alpha1.PodBuggerTool, conditionType, reason string) (string, bool) {
	now := apimeta.FindStatusCondition(after.Status.Conditions, conditionType)
	if now == nil || now.Status != metav1.ConditionTrue || now.Reason != reason {
		return "", false
	}
	was := apimeta.FindStatusCondition(before.Status.Conditions, conditionType)
	return now.Message, was == nil || was.Status != now.Status || was.Reason != now.Reason
}
