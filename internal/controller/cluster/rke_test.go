// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestTheRealRKEFailsAndIsRemovedInTheOpen takes a Cluster through RKE itself, with a machine that does not answer: a port of this one on
// which nobody listens.
func TestTheRealRKEFailsAndIsRemovedInTheOpen(t *testing.T) {
	if _, err := os.Stat("../../../bin/rke"); err != nil {
		t.Skip(`needs bin/rke: run "make bin/rke" first`)
	}
	s := newStage(t)
	s.file("cluster.yml", fmt.Sprintf("nodes:\n- {address: 127.0.0.1, port: %q, user: nobody, role: [controlplane, etcd, worker]}\n", testkit.SilentPort(t)))
	key := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "ssh"}, Data: map[string][]byte{"key": testkit.PrivateKey(t)},
	}
	s.Create(t, key)
	s.create(quick, func(cluster *clusterprovisionerv1alpha1.Cluster) {
		cluster.Spec.Provisioner, cluster.Spec.Exec = clusterprovisionerv1alpha1.ProvisionerRKE, nil
		cluster.Spec.SSHAuth = &clusterprovisionerv1alpha1.SSHAuth{
			PrivateKeySecretRef: &clusterprovisionerv1alpha1.KeyReference{Namespace: s.namespace, Name: key.Name, Key: "key"},
		}
	})
	s.becomes(status.Ready, "False SSHTunnel: attempt 1 failed: level=warning msg=\"Failed to set up SSH tunneling for host [127.0.0.1]…")
	s.becomes(status.Reconciling, "True Retrying: waiting for attempt 2 after SSHTunnel: level=warning msg=\"Failed to set up SSH tunneling for host [127.0.0.1]…")
	s.settled()
	if got := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data["state.cluster.rkestate"]; len(got) < 1000 {
		t.Errorf("%d bytes of state are kept", len(got))
	}
	s.until("attempt 2 has failed", func() bool {
		s.later()
		return s.is(status.Ready, "False SSHTunnel: attempt 2 failed: level=warning msg=\"Failed to set up SSH tunneling for host [127.0.0.1]…")
	})

	s.delete()
	s.until("a removal has failed", func() bool {
		s.later()
		last := s.cluster.Status.LastOperation
		return last != nil && last.Action == clusterprovisionerv1alpha1.ActionRemove && last.EndTime != nil && last.Reason == "SSHTunnel"
	})
	if !s.is(clusterprovisionerv1alpha1.ConditionDegraded, "True NodesSkipped: the tool could not reach 127.0.0.1, and what runs there may still run") {
		t.Error("nobody is told of the machine that was not reached")
	}
	if !slices.Equal(s.cluster.Status.SkippedNodes, []string{"127.0.0.1"}) {
		t.Errorf("skipped are %v", s.cluster.Status.SkippedNodes)
	}
	s.edit(annotate(clusterprovisionerv1alpha1.AcceptSkippedAnnotation, "true"))
	s.gone()
}
