// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// behind is a client whose cache shows a pool, which has no UID if it was not there yet, and a node if there is one, as they were.
type behind struct {
	client.Client

	pool *nodesv1.NodePool
	node *corev1.Node
}

// Get implements client.Reader.
func (b *behind) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if node, ok := into.(*corev1.Node); ok && b.node != nil && key.Name == b.node.Name {
		b.node.DeepCopyInto(node)
		return nil
	}
	return b.Client.Get(ctx, key, into, options...)
}

// List implements client.Reader.
func (b *behind) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if err := b.Client.List(ctx, into, options...); err != nil {
		return err
	}
	if pools, ok := into.(*nodesv1.NodePoolList); ok {
		pools.Items = slices.DeleteFunc(pools.Items, func(p nodesv1.NodePool) bool { return p.Name == b.pool.Name })
		if b.pool.UID != "" {
			pools.Items = append(pools.Items, *b.pool.DeepCopy())
		}
	}
	return nil
}

// A manager was restarted after it had cleaned the nodes of a deleted pool. Its watch of nodes had caught up when that of pools had not: it put the nodes
// back into the pool, and left everything on them when it saw that the pool was gone.
func TestPoolThatIsGoneTakesNoNodeBack(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), taint("b", "2"))
	w.converge()
	w.Get(t, pool)
	old := pool.DeepCopy()
	if err := w.Live.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.converge()
	if w.Get(t, pool) {
		t.Fatal("the pool is still there")
	}

	again := w.newControllers(&behind{Client: w.Client, pool: old})
	w.SettleKey(t, again.nodes, types.NamespacedName{Name: n.Name})
	wantLabels(t, w.labels(n), nil)
	wantTaints(t, n)
}

// A manager that had just started knew a pool from before its ledger was written, or not yet at all, and dropped what the record of a node says about it.
// When the pool was deleted, its role label stayed.
func TestOldLedgerAbandonsNoKeys(t *testing.T) {
	for sentence, past := range map[string]func(*nodesv1.NodePool){
		"the pool had no ledger": func(*nodesv1.NodePool) {},
		"there was no pool":      func(p *nodesv1.NodePool) { p.UID = "" },
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newStage(t)
			n := w.node("n")
			testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels[w.name("zone")] = "a" })
			pool := w.pool("p", label("a", "1"), selecting(w.name("zone"), "a"))
			old := pool.DeepCopy()
			past(old)
			w.converge()
			w.Get(t, n)
			want := n.Annotations[nodesv1.AppliedAnnotation]

			again := w.newControllers(&behind{Client: w.Client, pool: old})
			w.SettleKey(t, again.nodes, types.NamespacedName{Name: n.Name})
			if w.Get(t, n); n.Annotations[nodesv1.AppliedAnnotation] != want {
				t.Errorf("the record is %q, and was %q", n.Annotations[nodesv1.AppliedAnnotation], want)
			}
		})
	}
}

// A pool whose selector has changed gives up no node because a manager that has just started knows only the selector before.
func TestOldSelectorTakesNoNodeOutOfItsPool(t *testing.T) {
	w := newStage(t)
	n := w.node("n")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels[w.name("zone")] = "a" })
	pool := w.pool("p", label("a", "1"), selecting(w.name("zone"), "b"))
	w.converge()
	w.Get(t, pool)
	old := pool.DeepCopy()
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { selecting(w.name("zone"), "a")(p) })
	w.converge()
	want := map[string]string{w.name("zone"): "a", "a": "1", nodesv1.MemberLabel(pool.Name): ""}
	wantLabels(t, w.labels(n), want)

	again := w.newControllers(&behind{Client: w.Client, pool: old})
	w.SettleKey(t, again.nodes, types.NamespacedName{Name: n.Name})
	wantLabels(t, w.labels(n), want)
}

// A node came back to its pool before the manager was restarted. The new one, whose caches were behind, evicted its pods.
func TestNodeThatCameBackIsNotDrainedAfterARestart(t *testing.T) {
	w := newStage(t)
	n, pool, pod, budget := w.heldUp()
	w.Get(t, pool)
	w.Get(t, n)
	if len(pool.Status.Draining) != 1 {
		t.Fatalf("status is %+v", pool.Status)
	}
	old := &behind{Client: w.Client, pool: pool.DeepCopy(), node: n.DeepCopy()}
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels[nodesv1.RoleLabel(pool.Name)] = "" })
	w.converge()
	if err := w.Live.Delete(t.Context(), budget); err != nil {
		t.Fatal(err)
	}

	w.SettleKey(t, w.newControllers(old).drains, types.NamespacedName{Name: n.Name})
	if w.terminate(pod) {
		t.Error("the pod was evicted from a node that is in the pool")
	}
}
