// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
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

// installed says that a pod got containers. The events are about the pod, where users look first, and name the tools.
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

// announcements declares the transitions of conditions that are recorded: a tool that is in all its pods, and what keeps it from there.
func announcements() []status.Announcement {
	return []status.Announcement{
		{
			Condition: appsv1alpha1.ConditionInstalled, Status: metav1.ConditionTrue, Reasons: []string{appsv1alpha1.ReasonToolInstalled},
			Action: actionInstall,
		},
		{
			Condition: status.Stalled, Status: metav1.ConditionTrue, Reasons: []string{appsv1alpha1.ReasonToolRefused},
			Warning: true, Action: actionInstall,
		},
		{
			Condition: status.Reconciling, Status: metav1.ConditionTrue, Reasons: []string{appsv1alpha1.ReasonToolFailed},
			Warning: true, Action: actionInstall,
		},
		{
			Condition: appsv1alpha1.ConditionLimited, Status: metav1.ConditionTrue,
			Warning: true, Action: actionLimit,
		},
	}
}
