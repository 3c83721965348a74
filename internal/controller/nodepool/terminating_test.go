// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// terminating deletes a node, which another controller keeps until the end of the test.
func (w *stage) terminating(n *corev1.Node) {
	w.t.Helper()
	testkit.Edit(w.t, w.Harness, n, func(n *corev1.Node) { n.Finalizers = []string{"test.windlass.io/machine"} })
	must(w.t, w.Live.Delete(w.t.Context(), n))
	if !w.Get(w.t, n) || n.DeletionTimestamp == nil {
		w.t.Fatalf("node %s is not being deleted", n.Name)
	}
}

// TestANodeBeingDeletedDoesNotHoldUpTheRollout: it may take hours until the machine behind a node has gone.
func TestANodeBeingDeletedDoesNotHoldUpTheRollout(t *testing.T) {
	w := newStage(t)
	nodes := w.manyNodes(3, "p")
	pool := w.pool("p", label("a", "1"), bounded("1"))
	w.converge()
	w.terminating(nodes[0])
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.Labels["a"] = "2" })
	w.converge()
	if got := w.followers(nodes[1:], "2"); got != 2 {
		t.Errorf("%d of the other nodes follow, want 2", got)
	}
	if w.Get(t, pool); reason(pool, nodesv1.ConditionRolledOut) != nodesv1.ReasonRolledOut {
		t.Errorf("the rollout goes on: %+v", pool.Status)
	}
}

// TestANodeBeingDeletedDoesNotKeepItsPool: a pool that is deleted goes though the node is still there.
func TestANodeBeingDeletedDoesNotKeepItsPool(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), taint("b", "2"))
	w.converge()
	w.terminating(n)
	must(t, w.Live.Delete(t.Context(), pool))
	w.converge()
	if w.Get(t, pool) {
		t.Errorf("the pool waits: %+v", pool.Status.Conditions)
	}
	wantLabels(t, w.labels(n), nil)
	wantTaints(t, reload(w, n))
}

// TestANodeBeingDeletedIsDrainedInTime: a drain counts from when the node lost its member label, so it has to lose it.
func TestANodeBeingDeletedIsDrainedInTime(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), draining(60))
	w.converge()
	w.budget(w.pod("user", n, chooses(pool, true)))
	w.terminating(n)
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.converge()
	w.Clock.Step(time.Hour)
	w.converge()
	wantLabels(t, w.labels(n), nil)
	if w.Get(t, pool); len(pool.Status.Draining) > 0 {
		t.Errorf("the drain goes on: %+v", pool.Status.Draining)
	}
}
