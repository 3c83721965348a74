// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// into lets the Kubeconfig write the Secret of that name.
func (s *stage) into(name string) func(*clusterprovisionerv1alpha1.Kubeconfig) {
	return func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Spec.WriteSecretToRef = &corev1.SecretReference{Namespace: s.namespace, Name: name}
	}
}

// TestTheFormerSecretKeepsItsCredential is about Secrets that kept their credential after the spec named another Secret, until the Kubeconfig
// was deleted.
func TestTheFormerSecretKeepsItsCredential(t *testing.T) {
	for name, kind := range map[string]func(*clusterprovisionerv1alpha1.Kubeconfig){
		"a token": token, "a copy": func(*clusterprovisionerv1alpha1.Kubeconfig) {},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.provisioned()
			config := s.create(kind, s.into("first"))
			first := s.secret(config)
			testkit.Edit(t, s.Harness, config, s.into("second"))
			s.Settle(t, s.r, config)
			s.holds(config, "second")
			if s.Get(t, first) {
				t.Error("the former Secret is still there")
			}
		})
	}
}

// TestTheFormerSecretStaysUntilTheNewOneIsWritten names a Secret of somebody else now.
func TestTheFormerSecretStaysUntilTheNewOneIsWritten(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	taken := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "taken"}}
	s.Create(t, taken)
	config := s.create(token, s.into("first"))
	first := s.secret(config)
	testkit.Edit(t, s.Harness, config, s.into("taken"))
	s.Settle(t, s.r, config)
	if got := s.secret(config); got.Name != first.Name || got.UID != first.UID {
		t.Errorf("the status names the Secret %s", got.Name)
	}
	if err := s.Live.Delete(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	s.Settle(t, s.r, config)
	s.holds(config, "taken")
	if s.Get(t, first) {
		t.Error("the former Secret is still there")
	}
}

// TestAFormerSecretOfSomebodyElseIsLeftAlone is about people who can write the status of a Kubeconfig.
func TestAFormerSecretOfSomebodyElseIsLeftAlone(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "theirs"}}
	s.Create(t, foreign)
	config := s.create(token)
	testkit.EditStatus(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Status.SecretRef = &corev1.SecretReference{Namespace: foreign.Namespace, Name: foreign.Name}
	})
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
	if !s.Get(t, foreign) {
		t.Error("the foreign Secret is gone")
	}
}

// TestASecretThatHasJustAppearedIsOverwritten is about a Secret that somebody has made between the look and the first write.
func TestASecretThatHasJustAppearedIsOverwritten(t *testing.T) {
	for name, kind := range map[string]func(*clusterprovisionerv1alpha1.Kubeconfig){"a token": token, "a copy": admin} {
		t.Run(name, func(t *testing.T) {
			s, made := newStage(t), false
			s.provisioned()
			foreign := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "taken"}, Type: "cluster.x-k8s.io/secret",
				StringData: map[string]string{"value": "mine"},
			}
			s.r.direct = testkit.Meanwhile(s.Direct, func(runtime.ApplyConfiguration) {
				if !made {
					made = true
					s.Create(t, foreign)
				}
			})
			config := s.create(kind, s.into("taken"))
			s.is(config, status.Stalled, "True SecretConflict: …")
			if !s.Get(t, foreign) || string(foreign.Data["value"]) != "mine" || len(foreign.OwnerReferences) > 0 {
				t.Errorf("the Secret holds %q and belongs to %v", foreign.Data["value"], foreign.OwnerReferences)
			}
		})
	}
}
