// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// benchPool is one of the pools of a cluster.
func benchPool(i int) *build.PoolBuilder {
	name := fmt.Sprintf("pool-%d", i)
	return pool(name).Label("example.com/"+name, "gold")
}

// benchCluster returns ten pools as a list from a cache, and a node with the metadata of a cloud that is in two of them.
func benchCluster(changes ...func(*corev1.Node)) (*nodesv1.NodePoolList, *corev1.Node) {
	list := &nodesv1.NodePoolList{}
	for i := range 10 {
		list.Items = append(list.Items, *ready(benchPool(i)))
	}
	n := node().Role("pool-3").Role("pool-4").With(changes...).Obj()
	for i := range 25 {
		n.Labels[fmt.Sprintf("cloud.example.com/label-%d", i)] = "value"
	}
	if n.Annotations == nil {
		n.Annotations = map[string]string{}
	}
	for i := range 10 {
		n.Annotations[fmt.Sprintf("cloud.example.com/annotation-%d", i)] = "value"
	}
	return list, n
}

func BenchmarkNewPlan(b *testing.B) {
	list, joining := benchCluster()
	_, joined := benchCluster(carries(benchPool(3), benchPool(4)))
	for name, n := range map[string]*corev1.Node{"joining": joining, "joined": joined} {
		b.Run(name, func(b *testing.B) {
			pools := NewPools(list)
			b.ReportAllocs()
			for b.Loop() {
				NewPlan(n, pools)
			}
		})
	}
}

func BenchmarkNewPools(b *testing.B) {
	list, _ := benchCluster()
	b.ReportAllocs()
	for b.Loop() {
		NewPools(list)
	}
}
