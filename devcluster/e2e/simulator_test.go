// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// After a restart no pod ran on simulated nodes for up to 40 seconds: the simulator waited until the Leases of the process before had expired.
func TestASimulatorThatStartsAgainHoldsItsNodes(t *testing.T) {
	s := newSandbox(t)
	client, _ := s.up("--name", "again", "--nodes", "1")
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 1 {
		t.Fatalf("got %d nodes and %v, want one", len(nodes.Items), err)
	}
	lease := func() *coordinationv1.Lease {
		got, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(t.Context(), nodes.Items[0].Name, metav1.GetOptions{})
		if err != nil || got.Spec.HolderIdentity == nil || got.Spec.RenewTime == nil {
			return nil
		}
		return got
	}
	var before, after *coordinationv1.Lease
	s.eventually("the node has a Lease", func() bool { before = lease(); return before != nil })

	s.kill("kwok-controller")
	s.up("--name", "again")
	s.eventually("the Lease is renewed", func() bool {
		after = lease()
		return after != nil && after.Spec.RenewTime.After(before.Spec.RenewTime.Time)
	})
	if *after.Spec.HolderIdentity != *before.Spec.HolderIdentity {
		t.Errorf("the Lease is held by %q, and was by %q", *after.Spec.HolderIdentity, *before.Spec.HolderIdentity)
	}
	s.must("down", "--name", "again")
}
