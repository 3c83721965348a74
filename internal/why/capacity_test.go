// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit/build"
	"github.com/windlass-operator/windlass/internal/why"
)

// TestRequestsThatOverflowAreShort: the API server accepts quantities that do not fit into 64 bits.
func TestRequestsThatOverflowAreShort(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pods  why.Pods
		nodes []*build.NodeBuilder
		want  string
	}{
		"a pod requests more CPU than 64 bits hold in thousandths": {
			pods: pods(created, requesting("cpu", "10P")), nodes: []*build.NodeBuilder{node("a")},
			want: "PoolCapacityShort: pool gpu has 1 ready node with 4 CPU allocatable; a pod requests 10P CPU",
		},
		"a pod requests more memory than 64 bits hold": {
			pods: pods(created, requesting("memory", "100E")), nodes: []*build.NodeBuilder{node("a")},
			want: "PoolCapacityShort: pool gpu has 1 ready node with 8Gi memory allocatable; a pod requests 100E memory",
		},
		"containers together request more than 64 bits hold": {
			pods: pods(created, func(p *why.Pods) {
				p.Spec = &build.Pod("web").Requests("memory", "9E").Requests("memory", "9E").Requests("memory", "9E").Obj().Spec
			}),
			nodes: []*build.NodeBuilder{node("a"), node("b").Allocatable("memory", "8E")},
			want:  "PoolCapacityShort: pool gpu has 2 ready nodes with at most 8E memory allocatable each; a pod requests 27E memory",
		},
		"a node has more than 64 bits hold": {
			pods: pods(created, requesting("memory", "9E")), nodes: []*build.NodeBuilder{node("a").Allocatable("memory", "18E")},
			want: "PoolCapacityShort: pool gpu has room for 2 of 3 pods: 1 ready node with 18E memory allocatable; a pod requests 9E memory",
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, told(why.PodsMissing(tt.pods, poolOf(t, tt.nodes...)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOnePodHasRoomWhereItsRequestIs compares every quantity with every other one: a node has room if it has at least what is requested.
func TestOnePodHasRoomWhereItsRequestIs(t *testing.T) {
	t.Parallel()
	quantities := []string{"1m", "1", "9P", "9223372036854775", "10P", "7Ei", "9E", "18446744073709551616", "27E", "100E"}
	for _, name := range []string{"cpu", "memory"} {
		for _, wanted := range quantities {
			for _, has := range quantities {
				on := poolOf(t, node("a").Allocatable(name, has))
				short := why.PodsMissing(pods(created, count(1), requesting(name, wanted)), on) != nil
				request, allocatable := resource.MustParse(wanted), resource.MustParse(has)
				if want := allocatable.Cmp(request) < 0; short != want {
					t.Errorf("a node has %s %s and the pod requests %s: short is %t, want %t", has, name, wanted, short, want)
				}
			}
		}
	}
}

func poolOf(t *testing.T, nodes ...*build.NodeBuilder) why.Pool {
	t.Helper()
	prepared, err := membership.NewPool(pool().Obj())
	if err != nil {
		t.Fatal(err)
	}
	out := why.Pool{Name: "gpu", Pool: prepared}
	for _, built := range nodes {
		out.Nodes = append(out.Nodes, *built.Obj())
	}
	return out
}
