// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// A node carried the member label that the pool gives nobody: it was left by a pool of that name which somebody had forced away. The ledger did not
// confirm the label, so nobody took it off, and the deletion waited for it for ever.
func TestADeletedPoolWaitsForALabelThatItNeverWrote(t *testing.T) {
	w := newStage(t)
	nodes, pools := map[string]*corev1.Node{}, map[string]*nodesv1.NodePool{}
	for name, edit := range map[string]func(*nodesv1.NodePool){
		"plain":    func(*nodesv1.NodePool) {},
		"drains":   draining(0),
		"orphaned": func(p *nodesv1.NodePool) { p.Spec.DeletionPolicy = nodesv1.DeletionOrphan },
	} {
		nodes[name], pools[name] = w.node(name), w.pool(name, label("a", "1"), edit)
		testkit.Edit(t, w.Harness, nodes[name], func(n *corev1.Node) { n.Labels[nodesv1.AddressLabel(w.name(name))] = "" })
	}
	w.converge()
	for _, pool := range pools {
		must(t, w.Live.Delete(t.Context(), pool))
	}
	w.converge()
	for name, pool := range pools {
		if w.Get(t, pool) {
			t.Errorf("the pool %s is left: %+v", name, pool.Status.Conditions)
		}
		wantLabels(t, w.labels(nodes[name]), nil)
	}
}

func TestADeletedPoolNamesTheNodesThatItWaitsFor(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"))
	w.converge()
	must(t, w.Live.Delete(t.Context(), pool))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	w.Get(t, pool)
	synced := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.ConditionNodesSynced)
	if synced.Reason != nodesv1.ReasonCleaningNodes || !strings.HasSuffix(synced.Message, "1 node to be cleaned: "+n.Name) {
		t.Errorf("NodesSynced is %+v", synced)
	}
}
