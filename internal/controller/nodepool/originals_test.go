// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// A pool that shared a key with another one, and had noted whose value it replaced, waited for that one to note it. A pool that was paused, rehearsed or
// stalled never did, so that the first one could not be deleted.
func TestADeletedPoolWaitsForAPausedOneToNoteAnOriginal(t *testing.T) {
	w := newStage(t)
	for name, change := range map[string]struct{ rest, goOn func(*nodesv1.NodePool) }{
		"paused": {
			rest: func(p *nodesv1.NodePool) { p.Annotations = map[string]string{status.PausedAnnotation: "true"} },
			goOn: func(p *nodesv1.NodePool) { p.Annotations = nil },
		},
		"rehearses": {
			rest: func(p *nodesv1.NodePool) { p.Spec.DryRun = true },
			goOn: func(p *nodesv1.NodePool) { p.Spec.DryRun = false },
		},
		"stalls": {
			rest: malformed,
			goOn: func(p *nodesv1.NodePool) { p.Spec.NodeSelector = nil },
		},
	} {
		n := w.node(name, name+"-a", name+"-b")
		testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels["env"] = "prod" })
		first := w.pool(name+"-a", label("env", "dev"))
		w.converge()
		second := w.pool(name+"-b", label("env", "dev"))
		w.converge()
		w.Get(t, first)
		if len(first.Status.Originals) != 1 {
			t.Fatalf("%s: the first pool has noted %+v", name, first.Status.Originals)
		}

		testkit.Edit(t, w.Harness, second, change.rest)
		must(t, w.Live.Delete(t.Context(), first))
		w.converge()
		if w.Get(t, first) {
			t.Errorf("%s: the pool is left: %+v", name, first.Status.Conditions)
		}
		testkit.Edit(t, w.Harness, second, change.goOn)
		testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(second.Name)) })
		w.converge()
		wantLabels(t, w.labels(n), map[string]string{"env": "prod"})
	}
}

// A kubelet may take the record off its node. A pool that changes nodes in batches then forgot what it had replaced there, and never put it back.
func TestOriginalIsForgottenWithTheRecord(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
	})
	w.pool("p", taint("dedicated", "gpu"), bounded("1"))
	w.converge()
	wantTaints(t, reload(w, n), "dedicated=gpu:NoSchedule")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Annotations, nodesv1.AppliedAnnotation) })
	w.converge()
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(w.name("p"))) })
	w.converge()
	wantTaints(t, reload(w, n), "dedicated=db:NoSchedule")
}
