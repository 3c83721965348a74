// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestAPodWhoseInitContainerWaitsSaysNothing holds that a pod says what its init container waits for, as one whose container waits does.
func TestAPodWhoseInitContainerWaitsSaysNothing(t *testing.T) {
	t.Parallel()
	waits := func(name, reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	pod := &corev1.Pod{Status: corev1.PodStatus{
		Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
		InitContainerStatuses: []corev1.ContainerStatus{waits("migrate", "CrashLoopBackOff", "back-off 5m0s restarting failed container")},
		ContainerStatuses:     []corev1.ContainerStatus{waits("app", "PodInitializing", "")},
	}}
	if got := standingOf(only("pods")[0], pod); got.State != "CrashLoopBackOff" || got.how != moodBad || got.Message == "" {
		t.Errorf("it is %q, %q", got.State, got.Message)
	}
}
