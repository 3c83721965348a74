// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

func TestTrimNodeKeepsWhatControllersRead(t *testing.T) {
	t.Parallel()
	taints := []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
	got, err := trimNode(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"},
			Annotations: map[string]string{
				nodesv1.AppliedAnnotation: strings.Repeat("r", 2000), "short": "kept", "long": strings.Repeat("l", 2000),
			},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "dropped"}},
		},
		Spec: corev1.NodeSpec{Taints: taints, ProviderID: "dropped"},
		Status: corev1.NodeStatus{
			Images: []corev1.ContainerImage{{Names: []string{"dropped"}}},
			Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeMemoryPressure},
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), Message: "dropped"},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"},
			Annotations: map[string]string{
				nodesv1.AppliedAnnotation: strings.Repeat("r", 2000), "short": "kept", "long": strings.Repeat("l", 1025),
			},
		},
		Spec:   corev1.NodeSpec{Taints: taints},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("node differs (-want +got):\n%s", diff)
	}
}

func TestTransformsPassOnWhatTheyDoNotKnow(t *testing.T) {
	t.Parallel()
	for _, transform := range []func(any) (any, error){trimNode, trimPod, trimDeployment} {
		if got, err := transform("tombstone"); err != nil || got != "tombstone" {
			t.Errorf("got %v, %v", got, err)
		}
	}
}
