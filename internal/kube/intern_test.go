// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// message is what the API server encodes as protobuf.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal(raw []byte) error
}

// decoded returns an object as it comes from the API server: each string and each list in memory of its own.
func decoded[M message](tb testing.TB, into M, object message) M {
	tb.Helper()
	raw, err := object.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	if err := into.Unmarshal(raw); err != nil {
		tb.Fatal(err)
	}
	return into
}

func newNode(i int) *corev1.Node {
	resources := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("65012344Ki"),
		corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceEphemeralStorage: resource.MustParse("209702892Ki"),
		"hugepages-1Gi": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("0"),
	}
	name := fmt.Sprintf("node-%d", i)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
				corev1.LabelTopologyZone: fmt.Sprintf("eu-central-1%c", 'a'+i%3), corev1.LabelTopologyRegion: "eu-central-1",
				corev1.LabelInstanceTypeStable: "m6i.4xlarge", "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
			},
			Annotations: map[string]string{
				"volumes.kubernetes.io/controller-managed-attach-detach": "true",
				nodesv1.AppliedAnnotation: `{"batch":{"labels":["example.com/a","node-role.kubernetes.io/batch","nodepool.node-restriction.kubernetes.io/batch"]},` +
					`"edge":{"labels":["nodepool.node-restriction.kubernetes.io/edge","tier"],"taints":["example.com/a:NoSchedule"]}}`,
			},
		},
		Spec:   corev1.NodeSpec{Taints: []corev1.Taint{{Key: "example.com/a", Value: "b", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{Capacity: resources, Allocatable: resources},
	}
}

// newPod returns one of a hundred pods of a PodSet.
func newPod(i int) *corev1.Pod {
	set := fmt.Sprintf("set-%d", i/100)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-6d4cf56db6-%05d", set, i), Namespace: "default",
			Labels: map[string]string{
				appsv1alpha1.LabelApp: appsv1alpha1.LabelAppValue, "app.kubernetes.io/instance": set, "app.kubernetes.io/name": set, "pod-template-hash": "6d4cf56db6",
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: set + "-6d4cf56db6", UID: "0a1b2c3d-0000-4000-8000-000000000000"}},
		},
		Spec:   corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i%50)},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func TestInternedNodesAreEqualAndShareMemory(t *testing.T) {
	t.Parallel()
	trim := trimNode(newInterner())
	var got [2]*corev1.Node
	for i := range got {
		want := newNode(i)
		trimmed, err := trim(decoded(t, &corev1.Node{}, newNode(i)))
		if err != nil {
			t.Fatal(err)
		}
		node, ok := trimmed.(*corev1.Node)
		if !ok {
			t.Fatalf("got %T", trimmed)
		}
		if diff := cmp.Diff([]any{want.Labels, want.Annotations, want.Spec.Taints, want.Status.Capacity}, []any{node.Labels, node.Annotations, node.Spec.Taints, node.Status.Capacity}); diff != "" {
			t.Errorf("node differs (-want +got):\n%s", diff)
		}
		got[i] = node
	}
	if place(got[0].Labels, corev1.LabelOSStable) != place(got[1].Labels, corev1.LabelOSStable) {
		t.Error("keys of labels are in two places")
	}
	if record := nodesv1.AppliedAnnotation; unsafe.StringData(got[0].Annotations[record]) != unsafe.StringData(got[1].Annotations[record]) {
		t.Error("records of the same pools are in two places")
	}
	if unsafe.StringData(got[0].Spec.Taints[0].Key) != unsafe.StringData(got[1].Spec.Taints[0].Key) {
		t.Error("keys of taints are in two places")
	}
	if reflect.ValueOf(got[0].Status.Capacity).Pointer() != reflect.ValueOf(got[1].Status.Allocatable).Pointer() {
		t.Error("equal lists of resources are in two places")
	}
}

// place returns where the key of an entry is in memory.
func place(labels map[string]string, key string) *byte {
	for have := range labels {
		if have == key {
			return unsafe.StringData(have)
		}
	}
	return nil
}

// A list that has the sum of another one must not become it.
func TestListsOfResourcesThatDifferStayApart(t *testing.T) {
	t.Parallel()
	in := newInterner()
	for _, list := range []corev1.ResourceList{
		{"cpu": resource.MustParse("1")},
		{"cpu": resource.MustParse("1000m")},
		{"cpu": resource.MustParse("1100m")},
		{"cpu": resource.MustParse("1900m")},
		{"memory": resource.MustParse("1Gi")},
		{"memory": resource.MustParse("1073741824")},
		{"memory": resource.MustParse("1Gi"), "cpu": resource.MustParse("1")},
		{},
	} {
		for range 2 {
			got := in.resources(list.DeepCopy())
			if len(got) != len(list) {
				t.Errorf("%v became %v", list, got)
			}
			for name, want := range list {
				if have := got[name]; have.String() != want.String() {
					t.Errorf("%s of %v became %s", name, list, have.String())
				}
			}
		}
	}
}

func TestInterningIsBounded(t *testing.T) {
	t.Parallel()
	in := newInterner()
	shared := in.one(strings.Clone("shared"))
	for i := range 10 * maxStrings {
		in.one(fmt.Sprintf("node-%d", i))
		in.resources(corev1.ResourceList{"cpu": *resource.NewQuantity(int64(i), resource.DecimalSI)})
		if again := in.one(strings.Clone("shared")); unsafe.StringData(again) != unsafe.StringData(shared) {
			t.Fatalf("after %d other strings, a string that is asked for again and again is in another place", i)
		}
	}
	if have := len(in.strings.young) + len(in.strings.old); have > 2*maxStrings {
		t.Errorf("%d strings are kept", have)
	}
	if have := len(in.lists.young) + len(in.lists.old); have > 2*maxLists {
		t.Errorf("%d lists are kept", have)
	}
	long := strings.Repeat("l", maxStringBytes+1)
	if in.one(long); len(in.strings.young[long]) > 0 {
		t.Error("a long string is kept")
	}
}

func TestInterningChangesNoText(t *testing.T) {
	t.Parallel()
	texts := rapid.MapOf(rapid.SampledFrom([]string{"", "a", "b", "c"}), rapid.SampledFrom([]string{"", "a", "b", strings.Repeat("x", 200)}))
	in := newInterner()
	rapid.Check(t, func(t *rapid.T) {
		want := texts.Draw(t, "labels")
		meta := &metav1.ObjectMeta{Labels: maps.Clone(want), OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "a", UID: "u"}}}
		in.meta(meta)
		if !maps.Equal(want, meta.Labels) {
			t.Fatalf("%v became %v", want, meta.Labels)
		}
		if owner := meta.OwnerReferences[0]; owner.Kind != "ReplicaSet" || owner.Name != "a" || owner.UID != "u" {
			t.Fatalf("the owner became %v", owner)
		}
	})
}

// BenchmarkCached tells what a node and a pod cost in the cache, in bytes of live heap.
func BenchmarkCached(b *testing.B) {
	trimmed := func(trim func(*interner) func(any) (any, error), object func(i int) any) func(*testing.B) {
		return func(b *testing.B) {
			b.Helper()
			const count = 2000
			for b.Loop() {
				kept := make([]any, 0, count)
				before, cached := live(), trim(newInterner())
				for i := range count {
					one, err := cached(object(i))
					if err != nil {
						b.Fatal(err)
					}
					kept = append(kept, one)
				}
				b.ReportMetric(float64(live()-before)/count, "live-B/object")
				runtime.KeepAlive(kept)
			}
		}
	}
	b.Run("node", trimmed(trimNode, func(i int) any { return decoded(b, &corev1.Node{}, newNode(i)) }))
	b.Run("pod", trimmed(trimPod, func(i int) any { return decoded(b, &corev1.Pod{}, newPod(i)) }))
}

// live returns how much of the heap is in use.
func live() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
