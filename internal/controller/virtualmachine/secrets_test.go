// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/status"
)

func TestSecretsAreUsedAndNeverShown(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Image = cloudnativev1alpha1.Image{
			Name: "registry.example/refused:1", PullSecret: &cloudnativev1alpha1.LocalSecret{Name: "registry"},
		}
	})
	s.want(vm, waiting, "Ready=False/SecretNotFound", "Reconciling=True/SecretNotFound")
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

// TestAttackAMachineReadsASecretThatNobodyAllowed is about the right to create VirtualMachines: it was the right to read every Secret of the
// namespace, because the manager could read those of all namespaces.
func TestAttackAMachineReadsASecretThatNobodyAllowed(t *testing.T) {
	s := newStage(t, simulated.Script{})
	limited := rest.CopyConfig(s.Config)
	limited.Impersonate = rest.ImpersonationConfig{UserName: "windlass-" + s.namespace}
	var err error
	s.r.live, err = client.New(limited, client.Options{Scheme: s.Live.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	s.r.subject = "--user=windlass-" + s.namespace
	secret := &corev1.Secret{StringData: map[string]string{"userData": "#cloud-config"}}
	secret.Namespace, secret.Name = s.namespace, "seed"
	s.Create(t, secret)
	vm := s.machine(func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.CloudInit = &cloudnativev1alpha1.CloudInit{UserDataSecretRef: &cloudnativev1alpha1.SecretKey{Name: "seed"}}
	})
	s.want(vm, waiting, "Ready=False/SecretForbidden", "Reconciling=True/SecretForbidden")
	condition := apimeta.FindStatusCondition(vm.Status.Conditions, status.Reconciling)
	want := `waiting for permission to read Secret "seed". To give it, run: kubectl -n ` + s.namespace +
		" create rolebinding windlass-secrets --clusterrole=windlass-secret-reader --user=windlass-" + s.namespace
	if condition == nil || condition.Message != want {
		t.Errorf("the condition is %v, want the message\n%s", condition, want)
	}
}
