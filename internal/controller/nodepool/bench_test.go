// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// BenchmarkAggregate counts a pool of a thousand nodes of which ten have changed since it was counted last.
func BenchmarkAggregate(b *testing.B) {
	for name, dry := range map[string]bool{"applied": false, "dry": true} {
		b.Run(name, func(b *testing.B) { benchmarkAggregate(b, dry) })
	}
}

func benchmarkAggregate(b *testing.B, dry bool) {
	b.Helper()
	list := &nodesv1.NodePoolList{}
	for i := range 10 {
		pool := nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("pool-%d", i), UID: types.UID(strconv.Itoa(i)), Finalizers: []string{nodesv1.Finalizer},
		}}
		pool.Spec.Labels = map[string]nodesv1.LabelValue{"tier": "gold"}
		pool.Spec.DryRun = dry
		pool.Status.Ledger = membership.Wanted(&pool)
		list.Items = append(list.Items, pool)
	}
	nodes := make([]corev1.Node, 1000)
	for i := range nodes {
		nodes[i] = corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("node-%d", i), UID: types.UID(strconv.Itoa(i)), ResourceVersion: "1",
			Labels: map[string]string{nodesv1.RoleLabel("pool-3"): "", nodesv1.RoleLabel("pool-4"): ""},
		}}
		nodes[i].Status.Capacity = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}
		nodes[i].Status.Allocatable = nodes[i].Status.Capacity
	}
	pools, m := membership.NewPools(list), &memory{}
	b.ReportAllocs()
	for round := 0; b.Loop(); round++ {
		for i := range 10 {
			nodes[(round*10+i)%len(nodes)].ResourceVersion = strconv.Itoa(round)
		}
		if _, err := m.aggregate("pool-3", nodes, pools); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMemoryForgetsNothingThatChanged(t *testing.T) {
	t.Parallel()
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p", Generation: 1, Finalizers: []string{nodesv1.Finalizer}}}
	pool.Spec.Labels = map[string]nodesv1.LabelValue{"a": "1"}
	pool.Status.Ledger = membership.Wanted(pool)
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "n", UID: "n", ResourceVersion: "1", Labels: map[string]string{nodesv1.RoleLabel("p"): ""},
	}}
	m := &memory{}
	counted := func() aggregate {
		t.Helper()
		pools := membership.NewPools(&nodesv1.NodePoolList{Items: []nodesv1.NodePool{*pool}})
		c, err := m.aggregate("p", []corev1.Node{node}, pools)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := counted(); len(c.behind) != 1 || c.members != 1 {
		t.Errorf("a node that joins is not behind: %+v", c)
	}
	delete(node.Labels, nodesv1.RoleLabel("p"))
	if c := counted(); c.members != 1 {
		t.Errorf("what has no new version was looked at again: %+v", c)
	}
	node.ResourceVersion = "2"
	if c := counted(); c.members != 0 {
		t.Errorf("a changed node was not looked at again: %+v", c)
	}
	pool.Generation, pool.Spec.NodeSelector = 2, &metav1.LabelSelector{MatchLabels: map[string]string{"zone": "a"}}
	node.Labels["zone"] = "a"
	if c := counted(); c.members != 1 {
		t.Errorf("a changed pool was not looked at again: %+v", c)
	}
}

// TestADryRunCountsEverythingAnew: each pass of a pool in dry run made three plans of each of its nodes, whatever had changed.
func TestADryRunCountsEverythingAnew(t *testing.T) {
	t.Parallel()
	pool := nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p", Generation: 1}}
	pool.Spec.Labels, pool.Spec.DryRun = map[string]nodesv1.LabelValue{"a": "1"}, true
	pools := membership.NewPools(&nodesv1.NodePoolList{Items: []nodesv1.NodePool{pool}})
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "n", UID: "n", ResourceVersion: "1", Labels: map[string]string{nodesv1.RoleLabel("p"): ""},
	}}
	m := &memory{}
	report := func() *nodesv1.DryRunReport {
		t.Helper()
		c, err := m.aggregate("p", []corev1.Node{node}, pools)
		if err != nil {
			t.Fatal(err)
		}
		return c.preview.report(0)
	}
	want := &nodesv1.DryRunReport{AffectedNodes: 1, LabelsToSet: []string{"a=1", nodesv1.MemberLabel("p") + "="}}
	if diff := cmp.Diff(want, report(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the report differs (-want +got):\n%s", diff)
	}
	delete(node.Labels, nodesv1.RoleLabel("p"))
	if diff := cmp.Diff(want, report(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what has no new version was looked at again (-want +got):\n%s", diff)
	}
	node.ResourceVersion = "2"
	if diff := cmp.Diff(&nodesv1.DryRunReport{}, report(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("a changed node was not looked at again (-want +got):\n%s", diff)
	}
}

func TestMemoryForgetsNodesThatAreGone(t *testing.T) {
	t.Parallel()
	pool := nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p", Finalizers: []string{nodesv1.Finalizer}}}
	pools := membership.NewPools(&nodesv1.NodePoolList{Items: []nodesv1.NodePool{pool}})
	node := func(name string) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), ResourceVersion: "1", Labels: map[string]string{nodesv1.RoleLabel("p"): ""},
		}}
	}
	m := &memory{}
	for _, nodes := range [][]corev1.Node{{node("a"), node("b")}, {node("b"), node("c")}, {node("c")}, {}} {
		c, err := m.aggregate("p", nodes, pools)
		if err != nil {
			t.Fatal(err)
		}
		if int(c.members) != len(nodes) {
			t.Errorf("of %d nodes %d are members", len(nodes), c.members)
		}
		known := m.pools["p"].nodes
		for i := range nodes {
			if _, ok := known[nodes[i].UID]; !ok {
				t.Errorf("nothing is remembered of node %s", nodes[i].Name)
			}
		}
		if len(known) != len(nodes) {
			t.Errorf("%d nodes are remembered, want those %d that there are", len(known), len(nodes))
		}
	}
}
