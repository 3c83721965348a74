// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestADeletionInTheForegroundTakesTheStateFromTheRemoval is about a garbage collector that deletes what a Cluster owns before the tool has removed the
// cluster: the tool had no state, and a configuration that was never applied, and so removed nothing and succeeded.
func TestADeletionInTheForegroundTakesTheStateFromTheRemoval(t *testing.T) {
	for name, before := range map[string]func(*stage){
		"of what this version has written": func(*stage) {},
		"of what an earlier version has written": func(s *stage) {
			s.ownState()
			s.settled()
			if s.ownsState() {
				s.t.Error("the Secret still belongs to the Cluster")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
				c.Spec.Approval = clusterprovisionerv1alpha1.ApprovalManual
			})
			s.until("the plan is there", func() bool { return s.cluster.Status.Plan != nil })
			s.edit(annotate(clusterprovisionerv1alpha1.ApproveAnnotation, s.cluster.Status.Plan.ID))
			s.ready()
			before(s)
			s.file("cluster.yml", configText+"ssh_agent_auth: true\n") // nobody approves it
			s.becomes(status.Ready, "False WaitingForApproval: …")
			s.remove("cluster.rkestate")
			s.foreground()
			testkit.Eventually(t, "the tool has removed the cluster", func() bool { s.collect(); return !s.pass() || s.calls() == "1 up, 1 remove" })
			testkit.Eventually(t, "the Cluster is gone", func() bool { s.collect(); return !s.pass() })
			given, _ := os.ReadFile(filepath.Join(s.dir, "given"))
			if _, removedWith, _ := strings.Cut(string(given), "remove\n"); removedWith != configText {
				t.Errorf("the tool removed the cluster with\n%s", removedWith)
			}
			if state, _ := os.ReadFile(filepath.Join(s.dir, "cluster.rkestate")); string(state) != "done" {
				t.Errorf("the state that the tool had is %q", state)
			}
			if s.collect(); s.Get(t, s.state()) {
				t.Error("the Secret is left")
			}
		})
	}
}

// TestTheStateOfAClusterThatIsLetGoIsLeft holds that a Secret without an owner goes with its Cluster, and only then.
func TestTheStateOfAClusterThatIsLetGoIsLeft(t *testing.T) {
	t.Run("the machines stay", func(t *testing.T) {
		s := newStage(t)
		s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
			c.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan
		})
		s.ready()
		s.delete()
		s.gone()
		if !s.ownsState() {
			t.Error("the garbage collector does not delete the Secret")
		}
	})
	t.Run("the Secret is gone", func(t *testing.T) {
		s := newStage(t)
		s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
			c.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan
		})
		s.ready()
		if err := s.Live.Delete(t.Context(), s.state()); err != nil {
			t.Fatal(err)
		}
		s.delete()
		s.gone()
	})
	t.Run("a Cluster that is paused while it is deleted keeps it", func(t *testing.T) {
		s := newStage(t)
		s.create()
		s.ready()
		s.edit(annotate(status.PausedAnnotation, "true"))
		s.delete()
		s.ownState()
		s.until("the Secret belongs to nobody", func() bool { return !s.ownsState() })
		s.settled()
		s.edit(annotate(status.PausedAnnotation, "false"))
		s.gone()
		if got := s.calls(); got != "1 up, 1 remove" || !s.ownsState() {
			t.Errorf("the tool was called for %q, and the garbage collector deletes the Secret: %t", got, s.ownsState())
		}
	})
}

// state is the Secret with the tool's state, to be read.
func (s *stage) state() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + clusterprovisionerv1alpha1.StateSecretSuffix}}
}

// ownsState reports whether the Secret with the tool's state belongs to the Cluster.
func (s *stage) ownsState() bool {
	s.t.Helper()
	return s.owns(s.secret(clusterprovisionerv1alpha1.StateSecretSuffix))
}

func (s *stage) owns(object client.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == s.cluster.UID })
}

// ownState has the Secret with the tool's state belong to the Cluster, as earlier versions had it.
func (s *stage) ownState() {
	s.t.Helper()
	owner := *metav1.NewControllerRef(s.cluster, clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Cluster"))
	testkit.Edit(s.t, s.Harness, s.state(), func(secret *corev1.Secret) { secret.OwnerReferences = []metav1.OwnerReference{owner} })
}

// foreground deletes the Cluster as "kubectl delete --cascade=foreground" does.
func (s *stage) foreground() {
	s.t.Helper()
	if err := s.Live.Delete(s.t.Context(), s.cluster, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		s.t.Fatal(err)
	}
}

// collect is a round of the garbage collector, which does not run here, for a Cluster that is deleted in the foreground, or gone.
func (s *stage) collect() {
	s.t.Helper()
	var secrets corev1.SecretList
	if err := s.Live.List(s.t.Context(), &secrets, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	for i := range secrets.Items {
		if s.owns(&secrets.Items[i]) {
			if err := client.IgnoreNotFound(s.Live.Delete(s.t.Context(), &secrets.Items[i])); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if s.Get(s.t, s.cluster) && slices.Equal(s.cluster.Finalizers, []string{metav1.FinalizerDeleteDependents}) {
		s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Finalizers = nil })
	}
}
