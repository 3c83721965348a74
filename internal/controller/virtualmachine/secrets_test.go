// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

func TestSecretsAreUsedAndNeverShown(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Image = cloudnativev1alpha1.Image{
			Name: "registry.example/refused:1", PullSecret: &cloudnativev1alpha1.LocalSecret{Name: "registry"},
		}
	})
	s.want(vm, waiting, "Ready=False/Pending", "Reconciling=True/SecretNotFound")
	secret := &corev1.Secret{Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{
		corev1.DockerConfigJsonKey: []byte(`{"auths":{"registry.example":{"username":"me","password":"hunter2"}}}`),
	}}
	secret.Namespace, secret.Name = s.namespace, "registry"
	s.Create(t, secret)
	s.settle(vm)
	s.want(vm, pulling, "Ready=False/ImagePullFailed")
	told := []string{vm.Status.Reason}
	for _, condition := range vm.Status.Conditions {
		told = append(told, condition.Message)
	}
	for _, e := range s.Events.Take() {
		told = append(told, e.Note)
	}
	if raw := strings.Join(told, "\n"); strings.Contains(raw, "hunter2") {
		t.Errorf("the password is told: %s", raw)
	}
	held, err := s.r.readSecrets(t.Context(), vm)
	want := &machine.RegistryAuth{Username: "me", Password: "hunter2", ServerAddress: "registry.example"}
	if diff := cmp.Diff(want, held.registry); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
