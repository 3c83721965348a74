// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestAStateThatCannotBeUsedHoldsADeletedCluster is about a Secret with the state that was applied again from a backup, or is damaged: every
// pass failed, also for a Cluster that was to go without its machines.
func TestAStateThatCannotBeUsedHoldsADeletedCluster(t *testing.T) {
	orphaned := func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan
	}
	for name, test := range map[string]struct {
		spoil func(*stage)
		want  func(*stage) string
	}{
		"it belongs to somebody else": {(*stage).foreignState, foreignState},
		"it is damaged": {
			func(s *stage) {
				secret := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix)
				secret.Data[keyState+"cluster.rkestate"] = []byte("no gzip, and long enough")
				if err := s.Live.Update(s.t.Context(), secret); err != nil {
					s.t.Fatal(err)
				}
			},
			func(s *stage) string {
				return "True StateLost: cannot decompress key \"state.cluster.rkestate\" of Secret " + s.namespace + "/" + s.cluster.Name +
					"-state: gzip: invalid header. Restore the Secret"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.create()
			s.ready()
			test.spoil(s)
			s.becomes(status.Stalled, test.want(s))
			s.settled()
			s.delete()
			s.becomes(status.Stalled, test.want(s)+orphanHint)
			s.edit(orphaned)
			s.gone()
			if got := s.calls(); got != "1 up" {
				t.Errorf("the tool was called for %q", got)
			}
		})
	}
	t.Run("nobody has worked on the Cluster", func(t *testing.T) {
		s := newStage(t)
		s.create()
		s.foreignState()
		s.becomes(status.Stalled, foreignState(s))
		s.delete()
		s.gone()
		if got := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data; string(got["mine"]) != "x" || s.calls() != "" {
			t.Errorf("the Secret holds %v, the tool was called for %q", got, s.calls())
		}
	})
	t.Run("the Secret goes away", func(t *testing.T) {
		s := newStage(t)
		s.create()
		s.foreignState()
		s.becomes(status.Stalled, foreignState(s))
		if err := s.Live.Delete(t.Context(), s.secret(clusterprovisionerv1alpha1.StateSecretSuffix)); err != nil {
			t.Fatal(err)
		}
		s.ready()
	})
}

// foreignState replaces the Secret with the state by one that belongs to somebody else.
func (s *stage) foreignState() {
	s.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + clusterprovisionerv1alpha1.StateSecretSuffix},
	}
	if s.Get(s.t, secret) {
		if err := s.Live.Delete(s.t.Context(), secret); err != nil {
			s.t.Fatal(err)
		}
	}
	s.Create(s.t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: secret.Namespace, Name: secret.Name}, StringData: map[string]string{"mine": "x"},
	})
}

// foreignState is what Stalled says of it.
func foreignState(s *stage) string {
	return "True SecretConflict: Secret " + s.namespace + "/" + s.cluster.Name +
		"-state exists and does not belong to this Cluster. Delete or rename it"
}

// TestASecretThatHasJustAppearedIsOverwritten is about a Secret that somebody has made between the look and the first write.
func TestASecretThatHasJustAppearedIsOverwritten(t *testing.T) {
	for suffix, told := range map[string]struct{ in, as string }{
		clusterprovisionerv1alpha1.StateSecretSuffix:      {status.Stalled, "True SecretConflict: …"},
		clusterprovisionerv1alpha1.KubeconfigSecretSuffix: {clusterprovisionerv1alpha1.ConditionKubeconfigAvailable, "False SecretConflict: …"},
	} {
		t.Run(suffix, func(t *testing.T) {
			s, made := newStage(t), false
			s.r.direct = testkit.Meanwhile(s.r.direct, func(object runtime.ApplyConfiguration) {
				if secret, ok := object.(*corev1ac.SecretApplyConfiguration); ok && !made && strings.HasSuffix(*secret.Name, suffix) {
					made = true
					s.Create(t, &corev1.Secret{
						ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: *secret.Name}, Type: *secret.Type,
						StringData: map[string]string{"mine": "x"},
					})
				}
			})
			s.create()
			testkit.Eventually(t, "the write meets the Secret", func() bool {
				_, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(s.cluster))
				if err != nil && !apierrors.IsConflict(err) {
					t.Fatal(err)
				}
				return made
			})
			s.becomes(told.in, told.as)
			if got := s.secret(suffix); string(got.Data["mine"]) != "x" || len(got.Data) != 1 || len(got.OwnerReferences) > 0 {
				t.Errorf("the Secret holds %v and belongs to %v", got.Data, got.OwnerReferences)
			}
		})
	}
}
