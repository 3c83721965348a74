// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// stageLabel is on the pools and nodes of a test that runs a manager: it must not see those of other tests.
const stageLabel = "test.windlass.io/stage"

// TestNodesLeaveWithoutAsking runs the controllers as the manager does: a node that left looks at its pools once and never again,
// so that it is cleaned only if its clearance wakes it.
func TestNodesLeaveWithoutAsking(t *testing.T) {
	w := newStage(t)
	pool := w.pool("p", label("a", "1"), w.staged)
	nodes := w.manyNodes(10, "p") // more than can leave two by two while they are edited
	for _, n := range nodes {
		testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels[stageLabel] = w.prefix })
	}
	w.start()
	testkit.Eventually(t, "every node has joined", func() bool { return w.followers(nodes, "1") == 10 })

	testkit.Edit(t, w.Harness, nodes[0], func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	testkit.Eventually(t, "the node that left is cleaned", func() bool { return w.followers(nodes[:1], "1") == 0 })

	for _, n := range nodes[1:] {
		testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	}
	testkit.Eventually(t, "the brake holds the others", func() bool {
		return w.Get(t, pool) && reason(pool, nodesv1.ConditionSafetyBrake) == nodesv1.ReasonTooManyLeaving
	})
	testkit.Edit(t, w.Harness, pool, acknowledge)
	testkit.Eventually(t, "the others are cleaned once they may leave", func() bool { return w.followers(nodes, "1") == 0 })
}

// TestDrainsGoOnWithoutAsking runs the controllers as the manager does: each step of a drain wakes the one that takes the next.
func TestDrainsGoOnWithoutAsking(t *testing.T) {
	w := newStage(t)
	pool := w.pool("p", label("a", "1"), draining(0), w.staged)
	nodes := w.manyNodes(2, "p")
	for _, n := range nodes {
		testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels[stageLabel] = w.prefix })
	}
	w.start()
	testkit.Eventually(t, "every node has joined", func() bool { return w.followers(nodes, "1") == 2 })
	pod := w.pod("user", nodes[0], chooses(pool, true))
	for _, n := range nodes {
		testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	}
	testkit.Eventually(t, "the pod is evicted", func() bool { return w.terminate(pod) })
	testkit.Eventually(t, "both nodes are cleaned", func() bool { return w.followers(nodes, "1") == 0 })
	testkit.Eventually(t, "the drain is over", func() bool {
		return w.Get(t, pool) && len(pool.Status.Draining) == 0 && reason(pool, nodesv1.ConditionDrained) == nodesv1.ReasonNothingToDrain
	})
}

// TestNodeThatIsSelectedLaterJoinsABoundedPool runs the controllers as the manager does: the node waits for a batch that its pool has to begin.
func TestNodeThatIsSelectedLaterJoinsABoundedPool(t *testing.T) {
	w := newStage(t)
	pool := w.pool("p", label("a", "1"), selecting(w.name("zone"), "a"), bounded("1"), w.staged)
	w.start()
	testkit.Eventually(t, "the pool is Ready without nodes", func() bool {
		return w.Get(t, pool) && reason(pool, nodesv1.ConditionNodesSynced) == nodesv1.ReasonNoNodes
	})
	n := w.node("n")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels[stageLabel], n.Labels[w.name("zone")] = w.prefix, "a" })
	testkit.Eventually(t, "the node has joined", func() bool { return w.followers([]*corev1.Node{n}, "1") == 1 })
}

func (w *stage) staged(p *nodesv1.NodePool) { p.Labels = map[string]string{stageLabel: w.prefix} }

// start runs a manager with the controllers of the test's own pools and nodes until the test ends.
func (w *stage) start() {
	w.t.Helper()
	scheme := kube.NewScheme()
	options := kube.CacheOptions(scheme)
	mine := labels.SelectorFromSet(labels.Set{stageLabel: w.prefix})
	for object, by := range options.ByObject {
		if _, isNode := object.(*corev1.Node); isNode {
			by.Label = mine
			options.ByObject[object] = by
		}
	}
	options.ByObject[&nodesv1.NodePool{}] = cache.ByObject{Label: mine}
	mgr, err := manager.New(w.Config, manager.Options{
		Scheme: scheme, Cache: options, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // -count runs the test again in the same process
	})
	must(w.t, err)
	consistent := kube.ClientOptions(scheme)
	consistent.Cache.Reader = mgr.GetCache()
	c, err := client.New(w.Config, consistent)
	must(w.t, err)
	ctx := w.t.Context()
	must(w.t, kube.IndexNodes(membership.Concerned)(ctx, mgr.GetFieldIndexer()))
	managed := w.newControllers(c)
	must(w.t, managed.pools.SetupWithManager(ctx, mgr, 2))
	must(w.t, managed.nodes.SetupWithManager(ctx, mgr, 2))
	must(w.t, managed.drains.SetupWithManager(mgr, 2))
	testkit.Background(w.t, mgr.Start)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
