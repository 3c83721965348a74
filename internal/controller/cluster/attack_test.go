// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// TestAttackAProvisionerThatIsNotAllowedRunsNothing is about the provisioner exec, which runs any program as the manager.
func TestAttackAProvisionerThatIsNotAllowedRunsNothing(t *testing.T) {
	s := newStage(t)
	s.r.provisioners = []clusterprovisionerv1alpha1.Provisioner{clusterprovisionerv1alpha1.ProvisionerRKE}
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.Exec.Version = []string{"tool", "play", "version", filepath.Join(s.dir, "cluster.yml")}
	})
	s.becomes(status.Stalled, `True ProvisionerNotAllowed: provisioner "exec" is not allowed: --allowed-provisioners allows rke`)
	s.settled()
	s.delete()
	s.gone()
	if raw, err := os.ReadFile(filepath.Join(s.dir, "calls")); err == nil {
		t.Errorf("the tool was called for %q", raw)
	}
}

// TestAttackAForbiddenToolIsNotCalledForARemoval is the same for a Cluster that was provisioned while its tool was allowed.
func TestAttackAForbiddenToolIsNotCalledForARemoval(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	s.r.provisioners = nil
	s.delete()
	s.becomes(status.Stalled, `True ProvisionerNotAllowed: provisioner "exec" is not allowed: --allowed-provisioners allows none, `+
		"or set spec.deletionPolicy to Orphan to delete the Cluster and leave its machines as they are")
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan
	})
	s.gone()
	if got := s.calls(); got != "1 up" {
		t.Errorf("the tool was called for %q", got)
	}
}

// TestAttackASpecNamesASecretOfAnotherNamespace is about status.appliedConfig, which showed parts of any Secret that the manager can read.
func TestAttackASpecNamesASecretOfAnotherNamespace(t *testing.T) {
	s := newStage(t)
	other := s.Namespace(t)
	s.Create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "config"}, StringData: map[string]string{"cluster.yml": configText},
	})
	refused := "True ReferenceRefused: Secret " + other + `/config cannot be read: Clusters can name objects in namespace "` + s.namespace +
		`", and in those that --config-namespaces lists`
	ref := clusterprovisionerv1alpha1.KeyReference{Namespace: other, Name: "config", Key: "cluster.yml"}
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.ConfigPath, c.Spec.Config = "", &clusterprovisionerv1alpha1.ConfigSource{SecretRef: &ref}
	})
	s.becomes(status.Stalled, refused)
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.ConfigPath, c.Spec.Config = filepath.Join(s.dir, "cluster.yml"), nil
		c.Spec.SSHAuth = &clusterprovisionerv1alpha1.SSHAuth{PrivateKeySecretRef: &ref}
	})
	s.becomes(status.Stalled, refused)
	if got := s.calls(); got != "" {
		t.Errorf("the tool was called for %q", got)
	}
	s.r.configNamespaces = []string{other}
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.ConfigPath, c.Spec.Config, c.Spec.SSHAuth = "", &clusterprovisionerv1alpha1.ConfigSource{SecretRef: &ref}, nil
	})
	s.becomes(clusterprovisionerv1alpha1.ConditionProvisioned, "True Applied")
	s.delete()
	s.gone()
}

// TestAttackARemovalUsesWhatNobodyApproved is about configurations that the tool was never given: they decided what it removed.
func TestAttackARemovalUsesWhatNobodyApproved(t *testing.T) {
	const other = "nodes:\n- {address: 127.0.0.66, role: [worker]}\n"
	for name, change := range map[string]func(*stage){
		"it waits for its approval": func(s *stage) {
			s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
				c.Spec.Approval = clusterprovisionerv1alpha1.ApprovalManual
			})
			s.file("cluster.yml", other)
			s.becomes(status.Reconciling, "True WaitingForApproval: waiting for the annotation clusterprovisioner.rke.io/approve=plan-…")
		},
		"its path is refused": func(s *stage) {
			outside := filepath.Join(s.t.TempDir(), "outside.yml")
			if err := os.WriteFile(outside, []byte(other), 0o600); err != nil {
				s.t.Fatal(err)
			}
			s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.ConfigPath = outside })
			s.becomes(status.Stalled, s.outside(outside))
		},
		"its path is refused and does not exist": func(s *stage) {
			outside := filepath.Join(s.t.TempDir(), "outside.yml")
			s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.ConfigPath = outside })
			s.becomes(status.Stalled, s.outside(outside))
			s.t.Cleanup(func() {
				if _, err := os.Stat(outside); err == nil {
					s.t.Error("a file was written outside of the root")
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.create()
			s.ready()
			change(s)
			s.delete()
			s.gone()
			if got := s.calls(); got != "1 up, 1 remove" {
				t.Errorf("the tool was called for %q", got)
			}
			raw, err := os.ReadFile(filepath.Join(s.dir, "given"))
			if err != nil || strings.Contains(string(raw), "127.0.0.66") || !strings.HasSuffix(string(raw), configText) {
				t.Errorf("the tool was given\n%s%v", raw, err)
			}
		})
	}
}
