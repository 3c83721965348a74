// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestKubeletCannotShedTheTaintOfItsPool(t *testing.T) {
	w := newStage(t)
	labelled, selected := w.node("labelled", "p"), w.node("selected")
	zone := "zone.node-restriction.kubernetes.io/" + w.name("z")
	testkit.Edit(t, w.Harness, selected, func(n *corev1.Node) { n.Labels[zone] = "a" })
	w.pool("p", taint("pool", "p"), selecting(zone, "a"))
	w.converge()
	for _, n := range []*corev1.Node{labelled, selected} {
		wantTaints(t, reload(w, n), "pool=p:NoSchedule")
		testkit.Edit(t, w.Harness, n, func(n *corev1.Node) {
			n.Annotations[nodesv1.AppliedAnnotation] = fmt.Sprintf(`{%q:{"labels":[%q,%q,%q],"taints":["pool:NoSchedule"]}}`,
				w.name("p"), nodesv1.MemberLabel(w.name("p")), nodesv1.RoleLabel(w.name("p")), zone)
		})
	}
	w.converge()
	for _, n := range []*corev1.Node{labelled, selected} {
		wantTaints(t, reload(w, n), "pool=p:NoSchedule")
	}
}

func selecting(key, value string) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) {
		p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	}
}
