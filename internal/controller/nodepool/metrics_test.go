// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestAPoolThatIsGoneIsOffTheMetrics runs the controllers as the manager does. The names of pools come and go: what has one as its label must go
// with the pool, or the metrics of a manager that runs for long grow without an end.
func TestAPoolThatIsGoneIsOffTheMetrics(t *testing.T) {
	w := newStage(t)
	pool := w.pool("p", label("a", "1"), draining(0), w.staged)
	nodes := w.manyNodes(1, "p")
	testkit.Edit(t, w.Harness, nodes[0], func(n *corev1.Node) { n.Labels[stageLabel] = w.prefix })
	w.start()
	testkit.Eventually(t, "the node has joined", func() bool { return w.followers(nodes, "1") == 1 })
	pod := w.pod("user", nodes[0], chooses(pool, true))
	testkit.Edit(t, w.Harness, nodes[0], func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	testkit.Eventually(t, "the pod is evicted", func() bool { return w.terminate(pod) })
	testkit.Eventually(t, "the node is cleaned", func() bool { return w.followers(nodes, "1") == 0 })

	want := []string{
		"windlass_nodepool_apply_seconds", "windlass_nodepool_conflicts", "windlass_nodepool_evictions_total",
		"windlass_nodepool_node_patches_total", "windlass_nodepool_nodes",
	}
	if diff := cmp.Diff(want, metricsOf(t, pool.Name)); diff != "" {
		t.Errorf("metrics of the pool differ (-want +got):\n%s", diff)
	}
	must(t, w.Client.Delete(t.Context(), pool))
	testkit.Eventually(t, "nothing is measured of a pool that is gone", func() bool {
		return !w.Get(t, pool) && len(metricsOf(t, pool.Name)) == 0
	})
}

// TestAPoolThatNeverHeldAnythingIsOffTheMetrics: without a finalizer and a RuntimeClass, nothing but its own end wakes its controller.
func TestAPoolThatNeverHeldAnythingIsOffTheMetrics(t *testing.T) {
	w := newStage(t)
	dry := w.pool("dry", label("a", "1"), w.staged, func(p *nodesv1.NodePool) { p.Spec.DryRun = true })
	paused := w.pool("paused", label("a", "1"), w.staged, func(p *nodesv1.NodePool) {
		p.Annotations = map[string]string{status.PausedAnnotation: "true"}
	})
	w.start()
	for _, pool := range []*nodesv1.NodePool{dry, paused} {
		testkit.Eventually(t, "the pool is measured", func() bool { return len(metricsOf(t, pool.Name)) > 0 })
		must(t, w.Live.Delete(t.Context(), pool))
		testkit.Eventually(t, "nothing is measured of a pool that is gone", func() bool { return len(metricsOf(t, pool.Name)) == 0 })
		if w.Get(t, pool) || w.Get(t, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}}) {
			t.Errorf("pool %s, or its RuntimeClass, is there again", pool.Name)
		}
	}
}

// metricsOf returns the names of the metrics that have the pool as a label, sorted.
func metricsOf(t *testing.T, pool string) []string {
	t.Helper()
	families, err := metrics.Registry.Gather()
	must(t, err)
	var names []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "pool" && label.GetValue() == pool {
					names = append(names, family.GetName())
				}
			}
		}
	}
	return slices.Compact(names)
}
