// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// fight lets another writer change the node, and then looks at it once.
func (w *stage) fight(n *corev1.Node, change func(*corev1.Node)) (reconcile.Result, string) {
	w.t.Helper()
	testkit.Edit(w.t, w.Harness, n, change)
	result, err := w.Reconcile(w.t, w.nodes, types.NamespacedName{Name: n.Name})
	must(w.t, err)
	return result, w.labels(n)["env"]
}

// contest lets another writer change the node as often as it is repaired within a minute.
func (w *stage) contest(n *corev1.Node, change func(*corev1.Node)) {
	w.t.Helper()
	w.Clock.Step(time.Minute) // since the node joined
	w.Events.Take()
	for i := range 5 {
		if _, got := w.fight(n, change); got != "dev" {
			w.t.Fatalf("env is %q after change %d", got, i)
		}
	}
}

func toProd(n *corev1.Node) { n.Labels["env"] = "prod" }

// Two writers that insisted on their values wrote a node as fast as they saw each other.
func TestWriterThatInsistsIsNotAnsweredAllTheTime(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("env", "dev"))
	w.converge()
	w.contest(n, toProd)
	if result, got := w.fight(n, toProd); got != "prod" || result.RequeueAfter == 0 {
		t.Errorf("env is %q after one more change, and the node is looked at in %s", got, result.RequeueAfter)
	}
	if note := w.Events.Take(); !strings.HasSuffix(note[len(note)-2].Note, "again and again: Windlass puts it back at most 5 times a minute") {
		t.Errorf("the events are %+v", note)
	}
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	if _, got := w.fight(n, toProd); got != "prod" {
		t.Errorf("env is %q after the pool was counted, whose nodes are no longer in order", got)
	}
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.Labels["env"] = "test" })
	w.converge()
	if got := w.labels(n)["env"]; got != "test" {
		t.Errorf("env is %q after the pool has changed", got)
	}
	w.Clock.Step(time.Minute)
	if _, got := w.fight(n, toProd); got != "test" {
		t.Errorf("env is %q a minute later", got)
	}
}

// A writer that replaces all labels and annotations of a node takes its record, too. Without one there is no drift, and there was no limit.
func TestWriterThatTakesTheRecordIsNotAnsweredAllTheTime(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	w.pool("p", label("env", "dev"))
	w.converge()
	replace := func(n *corev1.Node) {
		delete(n.Labels, "env")
		delete(n.Annotations, nodesv1.AppliedAnnotation)
	}
	w.contest(n, replace)
	if result, got := w.fight(n, replace); got != "" || result.RequeueAfter == 0 {
		t.Errorf("env is %q after one more change, and the node is looked at in %s", got, result.RequeueAfter)
	}
}

// What another pool of the node wants anew waited as long as the repair.
func TestAChangedPoolWaitsForTheRepairOfAnotherOne(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p", "q")
	w.pool("p", label("env", "dev"))
	other := w.pool("q", label("other", "1"))
	w.converge()
	w.contest(n, toProd)
	if _, got := w.fight(n, toProd); got != "prod" {
		t.Fatalf("env is %q after one more change", got)
	}
	testkit.Edit(t, w.Harness, other, func(p *nodesv1.NodePool) { p.Spec.Labels["other"] = "2" })
	w.SettleKey(t, w.pools, types.NamespacedName{Name: other.Name})
	w.SettleKey(t, w.nodes, types.NamespacedName{Name: n.Name})
	if got := w.labels(n); got["other"] != "2" || got["env"] != "dev" {
		t.Errorf("the node has %v", got)
	}
}
