// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/controller/nodepool"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// podLists counts how often all pods are read.
type podLists struct {
	client.Reader

	count int
}

// List implements client.Reader.
func (l *podLists) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if _, ok := into.(*corev1.PodList); ok {
		l.count++
	}
	return l.Reader.List(ctx, into, options...)
}

// Each change of a node of such a pool was a pass that read all pods of the cluster past the cache.
func TestPodsAreNotReadForEachChangeOfANode(t *testing.T) {
	evicts := func(p *nodesv1.NodePool) {
		p.Spec.Taints = []nodesv1.Taint{{Key: "out", Value: "now", Effect: corev1.TaintEffectNoExecute}}
	}
	cases := map[string]func(w *stage, n *corev1.Node) *nodesv1.NodePool{
		"dry": func(w *stage, _ *corev1.Node) *nodesv1.NodePool {
			return w.pool("p", evicts, func(p *nodesv1.NodePool) { p.Spec.DryRun = true })
		},
		"stalled": func(w *stage, _ *corev1.Node) *nodesv1.NodePool {
			pool := w.pool("p", malformed, evicts)
			_, err := w.Reconcile(w.t, w.pools, client.ObjectKeyFromObject(pool)) // which gives it its finalizer
			must(w.t, err)
			return pool
		},
		"used": func(w *stage, n *corev1.Node) *nodesv1.NodePool {
			pool := w.pool("p")
			w.converge()
			w.pod("user", n, chooses(pool, false))
			must(w.t, w.Live.Delete(w.t.Context(), pool))
			return pool
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			w := newStage(t)
			n := w.node("n", "p")
			key := client.ObjectKeyFromObject(prepare(w, n))
			lists := &podLists{Reader: w.Live}
			pools := nodepool.New(w.Client, lists, w.Events, &clearance.Clearances{}, &clearance.Drains{}, w.Clock.Now, "windlass-system")
			for i := range 3 {
				testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels["change"] = strconv.Itoa(i) })
				result, err := w.Reconcile(t, pools, key)
				must(t, err)
				if lists.count != 1 || i > 0 && result.RequeueAfter == 0 {
					t.Errorf("after change %d, all pods have been read %d times, and the pool looks again in %s", i, lists.count, result.RequeueAfter)
				}
			}
			w.Clock.Step(15 * time.Second)
			_, err := w.Reconcile(t, pools, key)
			must(t, err)
			if lists.count != 2 {
				t.Errorf("later, all pods have been read %d times, want them to be counted again", lists.count)
			}
		})
	}
}
