// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/controller/node"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// racing is a client before which another writer comes first, once.
type racing struct {
	client.Client

	first func()
}

// Patch implements client.Client.
func (r *racing) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if first := r.first; first != nil {
		r.first = nil
		first()
	}
	return r.Client.Patch(ctx, object, patch, options...)
}

// race settles the node while a person edits it between the plan and the first patch.
func (w *stage) race(n *corev1.Node, edit func(*corev1.Node)) {
	w.t.Helper()
	everybody := &clearance.Clearances{}
	raced := &racing{Client: w.Client, first: func() { testkit.Edit(w.t, w.Harness, n.DeepCopy(), edit) }}
	w.SettleKey(w.t, node.New(raced, w.Events, everybody, w.pools, w.Clock.Now), types.NamespacedName{Name: n.Name})
	if raced.first != nil {
		w.t.Fatal("nothing was written to the node")
	}
	w.converge()
}

// slow is a patch that tells when its write has begun, and then waits.
type slow struct {
	client.Patch

	begun, end chan struct{}
}

// Data implements client.Patch.
func (s slow) Data(object client.Object) ([]byte, error) {
	close(s.begun)
	<-s.end
	return s.Patch.Data(object)
}

// A pool's status is written again and again while its nodes follow, and would stop all of them each time.
func TestNodeDoesNotWaitWhileTheStatusOfItsPoolIsWritten(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("env", "dev"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	w.Sync(t)
	write := slow{Patch: client.RawPatch(types.MergePatchType, []byte(`{}`)), begun: make(chan struct{}), end: make(chan struct{})}
	written := make(chan error)
	go func() { written <- w.Client.Status().Patch(t.Context(), pool.DeepCopy(), write) }()
	<-write.begun
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := w.nodes.Reconcile(ctx, reconcile.Request{NamespacedName: types.NamespacedName{Name: n.Name}})
	close(write.end)
	if err := errors.Join(err, <-written); err != nil {
		t.Fatal(err)
	}
	wantLabels(t, w.labels(n), map[string]string{"env": "dev", nodesv1.MemberLabel(pool.Name): ""})
}

func TestForeignEditDuringAPatchIsNotLost(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("env", "dev"), func(p *nodesv1.NodePool) { p.Spec.Overwrite = nodesv1.OverwriteNever })
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	w.race(n, func(n *corev1.Node) { n.Labels["env"] = "prod" })
	wantLabels(t, w.labels(n), map[string]string{"env": "prod", nodesv1.MemberLabel(pool.Name): ""})
}

func TestOriginalIsTheLastValueBeforeThePatch(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels["env"] = "prod" })
	pool := w.pool("p", label("env", "dev"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	w.race(n, func(n *corev1.Node) { n.Labels["env"] = "staging" })
	if got := w.labels(n)["env"]; got != "dev" {
		t.Errorf("env is %q", got)
	}
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{"env": "staging"})
}

func TestRoleLabelThatAPersonSetsDuringAPatchKeepsItsValue(t *testing.T) {
	w := newStage(t)
	n := w.node("n")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels[w.name("zone")] = "a" })
	pool := w.pool("p", selecting(w.name("zone"), "a"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	role := nodesv1.RoleLabel(pool.Name)
	w.race(n, func(n *corev1.Node) { n.Labels[role] = "true" })
	if w.Get(t, n); n.Labels[role] != "true" {
		t.Errorf("the role label has the value %q", n.Labels[role])
	}
}

// during lets the node be written once, and does something with the pool while that write is about to begin: its controller is at rest again before
// the API server has it. Then everything goes on.
func (w *stage) during(n *corev1.Node, pool *nodesv1.NodePool, change func()) {
	w.t.Helper()
	raced := &racing{Client: w.Client}
	w.controllers = w.newControllers(raced)
	w.Sync(w.t)
	raced.first = func() {
		change()
		w.SettleKey(w.t, w.pools, types.NamespacedName{Name: pool.Name})
	}
	_, err := w.nodes.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: n.Name}})
	must(w.t, err)
	if raced.first != nil {
		w.t.Fatal("nothing was written to the node")
	}
	w.converge()
}

// A taint that was taken back while the patch of a node was about to be sent was forgotten at once, because no node had it, and stayed on that node.
func TestTaintThatIsTakenBackDuringAPatchIsTakenOff(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p")
	w.converge()
	testkit.Edit(t, w.Harness, pool, taint("wrong", "x"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	w.during(n, pool, func() { testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.Taints = nil }) })
	wantTaints(t, reload(w, n))
	if w.Get(t, pool); len(pool.Status.Ledger.Taints) != 0 {
		t.Errorf("the ledger is %+v", pool.Status.Ledger)
	}
}

// A pool that was deleted while the first patch of a node was about to be sent was gone before it, and left everything on that node.
func TestPoolThatIsDeletedDuringAPatchLeavesNothing(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", taint("dedicated", "gpu"), label("env", "dev"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	w.during(n, pool, func() { must(t, w.Live.Delete(t.Context(), pool)) })
	if w.Get(t, pool) {
		t.Errorf("the pool is still there: %+v", pool.Status.Conditions)
	}
	wantLabels(t, w.labels(n), nil)
	wantTaints(t, reload(w, n))
}

// A value that a pool replaces while it takes that back has to be known until the patch has come.
func TestOriginalOfALabelThatIsTakenBackDuringAPatchComesBack(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels["env"] = "prod" })
	pool := w.pool("p")
	w.converge()
	testkit.Edit(t, w.Harness, pool, label("env", "dev"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	w.during(n, pool, func() { testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.Labels = nil }) })
	wantLabels(t, w.labels(n), map[string]string{"env": "prod", nodesv1.MemberLabel(pool.Name): ""})
}

// A pass over a node that had read the pool before an edit wrote what the pool did not want any more.
func TestNodeIsNotWrittenForAFormerVersionOfItsPool(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", taint("wrong", "x"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	w.Get(t, pool)
	former := pool.DeepCopy()
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.Taints = nil })
	w.Sync(t)
	nodes := node.New(&behind{Client: w.Client, pool: former}, w.Events, &clearance.Clearances{}, w.pools, w.Clock.Now)
	result, err := nodes.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: n.Name}})
	if err != nil || result.RequeueAfter == 0 {
		t.Errorf("the pass ends with %+v, %v", result, err)
	}
	wantTaints(t, reload(w, n))
	wantLabels(t, w.labels(n), nil)
}
