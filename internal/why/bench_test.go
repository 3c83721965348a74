// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-operator/windlass/internal/testkit/build"
	"github.com/windlass-operator/windlass/internal/why"
)

// BenchmarkPod explains a pod that fits on none of 5,000 nodes with two pods each: the worst case, because every check looks at
// every node.
func BenchmarkPod(b *testing.B) {
	n := around()
	taken := map[string]corev1.ResourceList{}
	for i := range 5000 {
		name := fmt.Sprintf("node-%04d", i)
		n.Nodes = append(n.Nodes, node(name).Obj())
		taken[name] = build.Resources("cpu", "3500m", "memory", "2Gi", "pods", "2")
	}
	n.Taken = func(name string) corev1.ResourceList { return taken[name] }
	pod := waiting().Obj()
	b.ReportAllocs()
	for b.Loop() {
		if got := why.Pod(pod, n.pool, &n.Around).Failure(); got == nil || got.Code != why.CodeNoRoom {
			b.Fatalf("the cause is %+v", got)
		}
	}
}
