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

// sharing creates a node in two pools, of which the first one is ahead of the other, and runs the controllers as the manager does.
func (w *stage) sharing(first, second func(*nodesv1.NodePool)) (n *corev1.Node, a, b *nodesv1.NodePool) {
	w.t.Helper()
	n = w.node("n", "a", "b")
	testkit.Edit(w.t, w.Harness, n, func(n *corev1.Node) { n.Labels[stageLabel], n.Labels["env"] = w.prefix, "prod" })
	a = w.pool("a", first, w.staged, func(p *nodesv1.NodePool) { p.Spec.Priority = 10 })
	w.start()
	testkit.Eventually(w.t, "a has joined", func() bool { return w.Get(w.t, a) && a.Status.NodeCount == 1 && reason(a, "Ready") == "Ready" })
	b = w.pool("b", second, w.staged)
	testkit.Eventually(w.t, "both count the node as shared", func() bool {
		return w.Get(w.t, a) && a.Status.SharedNodeCount == 1 && w.Get(w.t, b) && b.Status.SharedNodeCount == 1
	})
	return n, a, b
}

// A pool that drops a label waits for the other one that wants the same value to note the original, and nothing woke that one.
func TestPoolDropsALabelThatAnotherOneKeeps(t *testing.T) {
	w := newStage(t)
	n, a, b := w.sharing(label("env", "dev"), label("env", "dev"))
	testkit.Eventually(t, "b has joined", func() bool { return w.Get(t, b) && reason(b, "Ready") == "Ready" })
	testkit.Edit(t, w.Harness, a, func(p *nodesv1.NodePool) { p.Spec.Labels = nil })
	testkit.Eventually(t, "a has handed the label over", func() bool {
		return w.Get(t, a) && a.Status.ObservedGeneration == a.Generation && reason(a, "Ready") == "Ready" && len(a.Status.Originals) == 0
	})
	if w.Get(t, b); len(b.Status.Originals) != 1 || w.labels(n)["env"] != "dev" {
		t.Errorf("b has noted %v, the node has %v", b.Status.Originals, n.Labels)
	}
}

// A pool went on to blame another one for a key that this one had dropped.
func TestConflictEndsWithTheKeyOfTheHolder(t *testing.T) {
	w := newStage(t)
	n, a, b := w.sharing(label("env", "prod"), label("env", "dev"))
	testkit.Eventually(t, "b is in conflict", func() bool {
		return w.Get(t, b) && reason(b, nodesv1.ConditionConflicted) == nodesv1.ReasonKeysHeldElsewhere
	})
	testkit.Edit(t, w.Harness, a, func(p *nodesv1.NodePool) { p.Spec.Labels = nil })
	testkit.Eventually(t, "b gets its label", func() bool { return w.labels(n)["env"] == "dev" })
}

// A pool did not learn of another one without taints on its nodes, nor of its end.
func TestSharedNodesOfARehearsingPoolAreCounted(t *testing.T) {
	w := newStage(t)
	_, a, b := w.sharing(label("tier", "1"), func(p *nodesv1.NodePool) { p.Spec.DryRun = true })
	must(t, w.Live.Delete(t.Context(), b))
	testkit.Eventually(t, "a has the node for itself", func() bool { return w.Get(t, a) && a.Status.SharedNodeCount == 0 })
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
