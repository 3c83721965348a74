// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit/build"
	"github.com/windlass-operator/windlass/internal/why"
)

// stored returns the object as a store has it.
func stored(tb testing.TB, kind string, object any) *view.Item {
	tb.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		tb.Fatal(err)
	}
	content["kind"], content["apiVersion"] = kind, "v1"
	item, err := view.NewItem(&unstructured.Unstructured{Object: content}, false)
	if err != nil {
		tb.Fatal(err)
	}
	return item
}

func TestTakenBy(t *testing.T) {
	t.Parallel()
	pod := func(name, node string, phase corev1.PodPhase) *view.Item {
		return stored(t, "Pod", build.Pod(name).Node(node).Phase(phase).Requests("cpu", "1").Init(build.Sidecar("cpu", "500m"), build.Container("cpu", "2")).Obj())
	}
	taken := takenBy([]*view.Item{
		pod("a", "one", corev1.PodRunning), pod("b", "one", corev1.PodPending), pod("c", "two", corev1.PodRunning),
		pod("ended", "one", corev1.PodSucceeded), pod("failed", "one", corev1.PodFailed), pod("waiting", "", corev1.PodPending),
	})
	for node, want := range map[string]corev1.ResourceList{
		"one": build.Resources("cpu", "5", "pods", "2"), "two": build.Resources("cpu", "2500m", "pods", "1"), "three": {},
	} {
		for range 2 {
			if diff := cmp.Diff(want, taken(node)); diff != "" {
				t.Errorf("on %s (-want +got):\n%s", node, diff)
			}
		}
	}
}

// BenchmarkWhy explains a pod that fits nowhere from the stores of 5,000 nodes of 10 KB each, and of 10,000 pods.
func BenchmarkWhy(b *testing.B) {
	var nodes, pods []*view.Item
	for i := range 5000 {
		name := fmt.Sprintf("node-%04d", i)
		node := build.Node(name).Ready(corev1.ConditionTrue).Allocatable("cpu", "4", "memory", "8Gi", "pods", "10").Obj()
		for range 30 {
			node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{strings.Repeat("registry.example.com/image:1", 9)}})
		}
		nodes = append(nodes, stored(b, "Node", node))
		for _, pod := range []string{"a", "b"} {
			of := build.Pod(name+pod).Node(name).Phase(corev1.PodRunning).Requests("cpu", "1900m").Obj()
			of.Annotations = map[string]string{"filler": strings.Repeat("x", 3<<10)}
			pods = append(pods, stored(b, "Pod", of))
		}
	}
	waiting := build.Pod("waiting").Requests("cpu", "1").Obj()
	b.ReportAllocs()
	for b.Loop() {
		around := &why.Around{Taken: takenBy(pods)}
		var err error
		if around.Nodes, err = nodesOf(nodes, ""); err != nil {
			b.Fatal(err)
		}
		if got := why.Pod(waiting, "", around).Failure(); got == nil || got.Code != why.CodeNoRoom {
			b.Fatalf("the cause is %+v", got)
		}
	}
}
