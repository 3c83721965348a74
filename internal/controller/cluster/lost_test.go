// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// inline has the configuration be in the spec, and so the state of the tool in its working directory.
func inline(c *clusterprovisionerv1alpha1.Cluster) {
	c.Spec.ConfigPath, c.Spec.Config = "", &clusterprovisionerv1alpha1.ConfigSource{Inline: configText}
}

// loses applies a Cluster, and deletes the Secret with the state of its tool. Then another machine leads, which knows nothing of the cluster.
func (s *stage) loses(change ...func(*clusterprovisionerv1alpha1.Cluster)) {
	s.t.Helper()
	s.create(append([]func(*clusterprovisionerv1alpha1.Cluster){inline}, change...)...)
	s.becomes(clusterprovisionerv1alpha1.ConditionProvisioned, "True Applied")
	s.settled()
	if err := s.Live.Delete(s.t.Context(), s.state()); err != nil {
		s.t.Fatal(err)
	}
	s.lead("a", "b")
}

// worked reports whether a tool has worked on this machine.
func (s *stage) worked() bool {
	files, _ := filepath.Glob(filepath.Join(s.dir, "root", "*", "work", "calls"))
	return len(files) > 0
}

// stateGone is what Stalled says once the Secret is deleted.
func stateGone(s *stage) string {
	return "True StateLost: Secret " + s.namespace + "/" + s.cluster.Name + "-state, which held the state of the tool, is gone. Restore it"
}

// TestAStateThatIsDeletedLeavesTheMachines is about a Secret that somebody has deleted: without the state, the tool removed nothing and succeeded, and the
// Cluster went; or it made every machine of a changed configuration a second time.
func TestAStateThatIsDeletedLeavesTheMachines(t *testing.T) {
	t.Run("a removal waits until it is restored", func(t *testing.T) {
		s := newStage(t)
		s.create(inline)
		s.becomes(clusterprovisionerv1alpha1.ConditionProvisioned, "True Applied")
		s.settled()
		backup := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix)
		if err := s.Live.Delete(t.Context(), s.state()); err != nil {
			t.Fatal(err)
		}
		s.lead("a", "b")
		s.delete()
		s.becomes(status.Stalled, stateGone(s)+orphanHint)
		s.settled()
		if s.worked() {
			t.Error("the tool was called without its state")
		}
		s.Create(t, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: backup.Namespace, Name: backup.Name, Labels: backup.Labels}, Type: backup.Type, Data: backup.Data,
		})
		s.gone()
	})
	t.Run("a removal is given up", func(t *testing.T) {
		s := newStage(t)
		s.loses()
		s.delete()
		s.becomes(status.Stalled, stateGone(s)+orphanHint)
		s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
			c.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan
		})
		s.gone()
		if s.worked() {
			t.Error("the tool was called without its state")
		}
	})
	t.Run("a change waits until somebody wants the machines made anew", func(t *testing.T) {
		s := newStage(t)
		s.loses()
		s.becomes(status.Stalled, stateGone(s))
		s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Config.Inline = configText + "addons: x\n" })
		s.edit(annotate(clusterprovisionerv1alpha1.RetryAnnotation, "1"))
		s.settled()
		if !s.is(status.Stalled, stateGone(s)) || s.worked() {
			t.Fatalf("the tool was called without its state: %t", s.worked())
		}
		s.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.state().Name, Labels: labels(s.cluster)}})
		digest := mustRead(configText + "addons: x\n").Digest
		s.until("the change is applied", func() bool { return s.cluster.Status.AppliedConfigHash == digest })
	})
	t.Run("a tool that has no state goes on", func(t *testing.T) {
		s := newStage(t)
		s.loses(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Exec.StateFiles = nil })
		s.delete()
		s.gone()
	})
}

// TestAStateThatIsDeletedIsStoredAgain holds that what the tool has left is as good as the Secret, and outlives the machine that it is on.
func TestAStateThatIsDeletedIsStoredAgain(t *testing.T) {
	s := newStage(t)
	s.create(inline)
	s.becomes(clusterprovisionerv1alpha1.ConditionProvisioned, "True Applied")
	s.settled()
	want := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data
	if err := s.Live.Delete(t.Context(), s.state()); err != nil {
		t.Fatal(err)
	}
	s.settled()
	if got := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data; !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("the Secret holds %q, want %q", got, want)
	}
	s.lead("a", "b")
	s.delete()
	s.until("the tool has removed the cluster", func() bool {
		last := s.cluster.Status.LastOperation
		if removed(last) {
			state, _ := os.ReadFile(filepath.Join(s.dir, "root", string(s.cluster.UID), "work", "cluster.rkestate"))
			if string(state) != "done" {
				t.Errorf("the tool had the state %q", state)
			}
		}
		return removed(last)
	})
	s.gone()
}

// TestAStateThatIsDeletedDuringARunFailsTheRun is about a Secret that was deleted before anybody had recorded the end of a run: the configuration was gone with it,
// and the run, which had succeeded, was repeated, or kept every status from being written if there was no attempt left.
func TestAStateThatIsDeletedDuringARunFailsTheRun(t *testing.T) {
	once := func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Retry.Attempts = 1 }
	deleted := func(t *testing.T) *stage {
		t.Helper()
		s := newStage(t)
		s.create(once)
		s.until("the run has begun", func() bool { return s.cluster.Status.LastOperation != nil })
		testkit.Eventually(t, "it has ended", func() bool {
			run, err := s.runner.Observe(t.Context(), string(s.cluster.UID))
			return err == nil && run.Phase == provision.Succeeded
		})
		if err := s.Live.Delete(t.Context(), s.state()); err != nil {
			t.Fatal(err)
		}
		return s
	}
	applied := func(s *stage) bool { return s.cluster.Status.AppliedConfigHash == mustRead(configText).Digest }
	t.Run("the configuration is still the same", func(t *testing.T) {
		s := deleted(t)
		s.until("it is applied", func() bool { return applied(s) })
		s.settled()
		data := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data
		state, err := unpack(data[keyState+"cluster.rkestate"])
		if err != nil || string(state) != "done" || string(data[keyApplied]) != configText || s.calls() != "1 up" {
			t.Errorf("the Secret holds the state %q (%v) of %q after %s", state, err, data[keyApplied], s.calls())
		}
	})
	t.Run("the configuration cannot be read meanwhile", func(t *testing.T) {
		s := deleted(t)
		s.remove("cluster.yml")
		s.becomes(status.Stalled, s.notFound())
		s.file("cluster.yml", configText)
		s.until("it is applied again", func() bool { return applied(s) })
		if s.calls() != "2 up" {
			t.Errorf("the tool was called for %q", s.calls())
		}
	})
}
