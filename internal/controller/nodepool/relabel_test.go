// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// segments lets nodes join by their addresses. Tests share the nodes of an API server, so each has a segment of its own.
func segments(cidrs ...nodesv1.CIDR) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) { p.Spec.NodeCIDRs = cidrs }
}

// kubelet returns a client that may do what the kubelet of the node may: the API server knows it by its name and its group.
func (w *stage) kubelet(n *corev1.Node) client.Client {
	w.t.Helper()
	config := rest.CopyConfig(w.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:node:" + n.Name, Groups: []string{"system:nodes", "system:masters"}}
	c, err := client.New(config, client.Options{Scheme: w.Client.Scheme()})
	must(w.t, err)
	return c
}

// A node that reported an address of the pool's segment got the label that "no kubelet can forge".
func TestAttackAKubeletJoinsByItsAddress(t *testing.T) {
	w := newStage(t)
	pool := w.pool("p", segments("10.77.0.0/16"))
	n := w.node("n")
	kubelet := w.kubelet(n)
	w.converge()
	report := `{"status":{"addresses":[{"type":"InternalIP","address":"10.77.1.2"}]}}`
	must(t, kubelet.Status().Patch(t.Context(), n.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(report))))
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{nodesv1.AddressLabel(pool.Name): ""})
	if diff := cmp.Diff(map[string]string{nodesv1.AddressLabel(pool.Name): ""}, w.class(pool.Name).Scheduling.NodeSelector); diff != "" {
		t.Errorf("node selector of the RuntimeClass differs (-want +got):\n%s", diff)
	}

	for _, label := range nodesv1.MemberLabels(pool.Name) {
		for _, value := range []string{`""`, `"mine"`, `null`} {
			patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, label, value)
			err := kubelet.Patch(t.Context(), n.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
			if unchanged := label == nodesv1.AddressLabel(pool.Name) && value == `""` || label == nodesv1.MemberLabel(pool.Name) && value == `null`; unchanged {
				must(t, err)
			} else if !apierrors.IsForbidden(err) {
				t.Errorf("a kubelet that writes %s was answered: %v", patch, err)
			}
		}
	}

	// The kubelet hides that its role label is Windlass' own. When addresses no longer count, the node stays, and proves nothing.
	forged := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, nodesv1.AppliedAnnotation, fmt.Sprintf(`{%q:{"labels":[%q]}}`, pool.Name, nodesv1.AddressLabel(pool.Name)))
	must(t, kubelet.Patch(t.Context(), n.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(forged))))
	testkit.Edit(t, w.Harness, pool, segments())
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{nodesv1.AddressLabel(pool.Name): ""})
}

func TestPoolGainsASegment(t *testing.T) {
	for name, bound := range map[string]func(*nodesv1.NodePool){"all at once": func(*nodesv1.NodePool) {}, "in batches": bounded("1")} {
		t.Run(name, func(t *testing.T) {
			w := newStage(t)
			nodes := []*corev1.Node{w.node("a", "p"), w.node("b", "p"), w.node("c", "p")}
			pool := w.pool("p", bound)
			w.converge()
			w.relabel(pool, nodes, segments("10.79.0.0/16"), nodesv1.AddressLabel(pool.Name))
			w.relabel(pool, nodes, segments(), nodesv1.MemberLabel(pool.Name))
		})
	}
}

// relabel edits the pool and takes one pass after the other until all nodes carry no other member label than this one. At any time,
// the RuntimeClass selects every node.
func (w *stage) relabel(pool *nodesv1.NodePool, nodes []*corev1.Node, edit func(*nodesv1.NodePool), want string) {
	w.t.Helper()
	testkit.Edit(w.t, w.Harness, pool, edit)
	for range 20 {
		w.selectedPass(w.pools, pool.Name, pool, nodes)
		for _, n := range nodes {
			w.selectedPass(w.nodes, n.Name, pool, nodes)
		}
	}
	before := w.Writes()
	w.converge()
	if w.Writes() != before {
		w.t.Error("20 rounds were not enough")
	}
	w.Get(w.t, pool)
	if pool.Status.MemberLabel != want || slices.Contains(pool.Status.Ledger.Labels, nodesv1.MemberLabel(pool.Name)) == (want != nodesv1.MemberLabel(pool.Name)) {
		w.t.Errorf("the status has member label %s and ledger %v", pool.Status.MemberLabel, pool.Status.Ledger.Labels)
	}
	for _, n := range nodes {
		wantLabels(w.t, w.labels(n), map[string]string{want: ""})
	}
}

// selectedPass runs one pass, and fails unless the RuntimeClass selects every node after it.
func (w *stage) selectedPass(r reconcile.Reconciler, key string, pool *nodesv1.NodePool, nodes []*corev1.Node) {
	w.t.Helper()
	_, err := w.Reconcile(w.t, r, types.NamespacedName{Name: key})
	must(w.t, err)
	for _, n := range nodes {
		w.Get(w.t, n)
		for label := range w.class(pool.Name).Scheduling.NodeSelector {
			if _, selected := n.Labels[label]; !selected || !membership.HasJoined(n, pool.Name) {
				w.t.Fatalf("the RuntimeClass selects %s, and node %s has labels %v", label, n.Name, n.Labels)
			}
		}
	}
}
