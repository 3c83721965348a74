// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-operator/windlass/internal/why"
)

// A program that cannot be started crashes again and again for the kubelet, but it has no log: its runtime says why.
func TestProgramThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	refused := &corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", Message: `exec: "/none": no such file or directory`}
	for sentence, status := range map[string]corev1.ContainerStatus{
		"while it pauses": {
			Name: "app", State: asleep("CrashLoopBackOff", "back-off 10s"), LastTerminationState: corev1.ContainerState{Terminated: refused}, RestartCount: 1,
		},
		"between two attempts": {Name: "app", State: corev1.ContainerState{Terminated: refused}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			pod := placed(status.State).Obj()
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
			got := why.Pod(pod, "", &around(node("a")).Around)
			const want = `ContainerNotCreated: Container app cannot be started: exec: "/none": no such file or directory.`
			if diff := cmp.Diff(want, toldOf(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkShape(t, got)
		})
	}
}
