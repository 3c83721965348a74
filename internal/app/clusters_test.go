// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestTheSupervisorOfAPrivateRegistryIsPulledAsTheManagerWas: the Pod of a tool has the image of the manager and what it was pulled with.
func TestTheSupervisorOfAPrivateRegistryIsPulledAsTheManagerWas(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	namespace := h.Namespace(t)
	want := []corev1.LocalObjectReference{{Name: "registry"}, {Name: "mirror"}}
	for name, container := range map[string]string{"windlass-1": managerContainer, "stranger": "web"} {
		h.Create(t, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: corev1.PodSpec{ImagePullSecrets: want, Containers: []corev1.Container{
				{Name: "sidecar", Image: "sidecar:1"}, {Name: container, Image: "registry.example.com/windlass:1"},
			}},
		})
	}
	image, got, err := ownImage(t.Context(), h.Direct, namespace, "windlass-1")
	if err != nil || image != "registry.example.com/windlass:1" {
		t.Errorf("the image is %q (%v)", image, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what it is pulled with (-want +got):\n%s", diff)
	}
	if _, _, err := ownImage(t.Context(), h.Direct, namespace, "stranger"); err == nil || !strings.Contains(err.Error(), "cannot find container") {
		t.Errorf("a Pod without the manager: %v", err)
	}
}
