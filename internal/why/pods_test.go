// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit/build"
	"github.com/windlass-operator/windlass/internal/why"
)

// pool returns a pool "gpu" whose RuntimeClass is ready.
func pool() *build.PoolBuilder {
	return build.Pool("gpu").Label("gpu", "yes").Handler("nvidia").
		Condition(nodesv1.ConditionRuntimeClassReady, metav1.ConditionTrue, "", "")
}

// selective returns such a pool, open to the teams a and b only.
func selective() *build.PoolBuilder {
	return pool().Allows(metav1.LabelSelectorRequirement{
		Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"},
	})
}

// node returns a ready and synced member with 4 CPUs and 8Gi of memory that offers the pool's handler.
func node(name string) *build.NodeBuilder {
	return build.Node(name).Member("gpu").Label("gpu", "yes").Ready(corev1.ConditionTrue).
		Allocatable("cpu", "4", "memory", "8Gi", "pods", "10").Handlers("", "nvidia")
}

// lacksHandler returns such a pool that lacks its handler on a node.
func lacksHandler() *build.PoolBuilder {
	return pool().Condition(nodesv1.ConditionHandlerAvailable, metav1.ConditionFalse, "HandlerMissing",
		"handler nvidia is missing on 1 node: a")
}

func unready(name string) *build.NodeBuilder { return node(name).Ready(corev1.ConditionUnknown) }

func unjoined(name string) *build.NodeBuilder {
	return node(name).WithoutLabel(nodesv1.MemberLabel("gpu"))
}

func left(name string) *build.NodeBuilder {
	return node(name).WithoutLabel(nodesv1.RoleLabel("gpu"))
}

// pods returns three pods of which none exists.
func pods(change ...func(*why.Pods)) why.Pods {
	three := why.Pods{Wanted: 3, Namespace: &metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "c"}}}
	for _, c := range change {
		c(&three)
	}
	return three
}

// in puts them into a namespace without labels.
func in(namespace string) func(*why.Pods) {
	return func(p *why.Pods) { p.Namespace = &metav1.ObjectMeta{Name: namespace} }
}

func created(p *why.Pods) { p.Created, p.Unplaced = p.Wanted, p.Wanted }

func count(n int32) func(*why.Pods) { return func(p *why.Pods) { p.Wanted = n } }

// on places pods on a node each.
func on(nodes ...string) func(*why.Pods) {
	return func(p *why.Pods) {
		p.PerNode = map[string]int32{}
		for _, name := range nodes {
			p.PerNode[name]++
		}
		p.Created = p.Wanted
		p.Unplaced = max(0, p.Wanted-int32(len(nodes)))
	}
}

func requesting(pairs ...string) func(*why.Pods) {
	return func(p *why.Pods) {
		p.Spec = &build.Pod("web").Requests(pairs...).Obj().Spec
	}
}

func TestPodsMissing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pods  why.Pods
		pool  *build.PoolBuilder
		nodes []*build.NodeBuilder
		// want is "Reason: text", with "refused" before what keeps pods from being created.
		want string
	}{
		"a pool in order is not to blame": {
			pods: pods(), pool: pool(), nodes: []*build.NodeBuilder{node("a")},
		},
		"there is no pool": {
			pods: pods(), want: "refused PoolNotFound: pool gpu does not exist",
		},
		"there is no pool, but all pods have found a node": {
			pods: pods(on("a", "a", "b")),
		},
		"the pool is being deleted": {
			pods: pods(created), pool: pool().Deleting(time.Unix(1, 0)),
			want: "refused PoolDeleting: pool gpu is being deleted",
		},
		"the namespace may not use the pool": {
			pods: pods(), pool: selective(), nodes: []*build.NodeBuilder{node("a")},
			want: "refused PoolNotAllowed: namespace shop may not use pool gpu, which is for namespaces with team in (a,b)",
		},
		"the namespace may use the pool": {
			pods: pods(func(p *why.Pods) { p.Namespace = &metav1.ObjectMeta{Labels: map[string]string{"team": "b"}} }),
			pool: selective(), nodes: []*build.NodeBuilder{node("a")},
		},
		"kube-system may use every pool": {
			pods: pods(in(metav1.NamespaceSystem)), pool: selective(), nodes: []*build.NodeBuilder{node("a")},
		},
		"the namespace of the operator may use every pool": {
			pods: pods(in("windlass-system"), func(p *why.Pods) { p.OperatorNamespace = "windlass-system" }),
			pool: selective(), nodes: []*build.NodeBuilder{node("a")},
		},
		"a namespace may not use the pool while that of the operator is unknown": {
			pods: pods(in("windlass-system")), pool: selective(), nodes: []*build.NodeBuilder{node("a")},
			want: "refused PoolNotAllowed: namespace windlass-system may not use pool gpu, which is for namespaces with team in (a,b)",
		},
		"pods that were created before the pool was closed to them are let alone": {
			pods: pods(created), pool: selective(), nodes: []*build.NodeBuilder{node("a").Cordoned()},
			want: "PoolCordoned: the only ready node of pool gpu is cordoned: a",
		},
		"a node is cordoned, and another one lacks labels of the pool": {
			pods: pods(), pool: pool(), nodes: []*build.NodeBuilder{node("a").Cordoned(), unjoined("b")},
			want: "PoolCordoned: the only ready node of pool gpu that carries its labels is cordoned: a",
		},
		"the namespace is not known": {
			pods: pods(func(p *why.Pods) { p.Namespace = nil }), pool: selective(), nodes: []*build.NodeBuilder{node("a")},
		},
		"the pool says nothing yet": {
			pods: pods(), pool: pool().WithoutConditions(),
			want: "refused PoolRuntimeClassNotReady: pool gpu has no RuntimeClass yet",
		},
		"the RuntimeClass belongs to somebody else, which lets pods be created": {
			pods: pods(created), pool: pool().Condition(
				nodesv1.ConditionRuntimeClassReady, metav1.ConditionFalse, "NameConflict", "RuntimeClass gpu belongs to somebody else"), nodes: []*build.NodeBuilder{node("a")},
			want: "PoolRuntimeClassNotReady: the RuntimeClass of pool gpu is not ready: RuntimeClass gpu belongs to somebody else",
		},
		"the RuntimeClass is refused": {
			pods: pods(), pool: pool().Condition(nodesv1.ConditionRuntimeClassReady, metav1.ConditionFalse, "RuntimeClassRefused", "no"), nodes: []*build.NodeBuilder{node("a")},
			want: "refused PoolRuntimeClassNotReady: the RuntimeClass of pool gpu is not ready: no",
		},
		"the RuntimeClass could not be looked at": {
			pods: pods(), pool: pool().Condition(nodesv1.ConditionRuntimeClassReady, metav1.ConditionUnknown, "NotObserved", ""),
			nodes: []*build.NodeBuilder{node("a")},
		},
		"the pool is in dry run and has no RuntimeClass": {
			pods: pods(),
			pool: pool().DryRun().Condition(nodesv1.ConditionRuntimeClassReady, metav1.ConditionUnknown, "DryRun", "a dry run writes no RuntimeClass"),
			want: "refused PoolPaused: pool gpu is in dry run, and the RuntimeClass of pool gpu is not ready: a dry run writes no RuntimeClass",
		},
		"the pool is paused and has no RuntimeClass": {
			pods: pods(), pool: pool().Paused().WithoutConditions(),
			want: "refused PoolPaused: pool gpu is paused, and pool gpu has no RuntimeClass yet",
		},
		"the pool is paused and has not written its nodes": {
			pods: pods(created), pool: pool().Paused(), nodes: []*build.NodeBuilder{unjoined("a")},
			want: "PoolPaused: pool gpu is paused, and the only ready node of pool gpu lacks labels of the pool: a",
		},
		"the pool is paused and lacks nothing": {
			pods: pods(created), pool: pool().Paused(), nodes: []*build.NodeBuilder{node("a")},
		},
		"the pool has no node": {
			pods: pods(created), pool: pool(), want: "PoolHasNoNode: pool gpu has no nodes",
		},
		"a node that has left does not count": {
			pods: pods(created), pool: pool(), nodes: []*build.NodeBuilder{left("a")},
			want: "PoolHasNoNode: pool gpu has no nodes",
		},
		"no node is ready, and only some are named": {
			pods: pods(created), pool: pool(),
			nodes: []*build.NodeBuilder{unready("d"), node("b").With(func(n *corev1.Node) { n.Status.Conditions = nil }), unready("e"), unready("a"), unready("c")},
			want:  "PoolHasNoReadyNode: all 5 nodes of pool gpu are not ready: a, b, c and 2 more",
		},
		"no node is ready, and the pods are on them": {
			pods: pods(on("a", "a", "a")), pool: pool(), nodes: []*build.NodeBuilder{unready("a")},
			want: "PoolHasNoReadyNode: the only node of pool gpu is not ready: a",
		},
		"no ready node carries the labels": {
			pods: pods(created), pool: pool(),
			nodes: []*build.NodeBuilder{unjoined("b"), node("a").Label("gpu", "no"), unready("c")},
			want:  "PoolNodesNotSynced: all 2 ready nodes of pool gpu lack labels of the pool: a, b",
		},
		"one node is enough": {
			pods: pods(created), pool: pool(),
			nodes: []*build.NodeBuilder{unjoined("b"), node("a").Cordoned(), unready("c"), node("d")},
		},
		"all ready nodes are cordoned": {
			pods: pods(created), pool: pool(), nodes: []*build.NodeBuilder{node("b").Cordoned(), node("a").Cordoned(), unready("c")},
			want: "PoolCordoned: all 2 ready nodes of pool gpu are cordoned: a, b",
		},
		"pods that run nowhere else are not the affair of cordons": {
			pods: pods(on("a", "a", "b")), pool: pool(), nodes: []*build.NodeBuilder{node("a").Cordoned()},
		},
		"a pod is greater than each node": {
			pods: pods(created, requesting("cpu", "8", "memory", "1Gi")), pool: pool(), nodes: []*build.NodeBuilder{node("a"), node("b")},
			want: "PoolCapacityShort: pool gpu has 2 ready nodes with 4 CPU allocatable each; a pod requests 8 CPU",
		},
		"a pod is greater than the greatest node": {
			pods: pods(created, requesting("memory", "32Gi")), pool: pool(),
			nodes: []*build.NodeBuilder{node("a"), node("b").Allocatable("memory", "16Gi")},
			want:  "PoolCapacityShort: pool gpu has 2 ready nodes with at most 16Gi memory allocatable each; a pod requests 32Gi memory",
		},
		"a pod is greater than the only node that takes it": {
			pods: pods(created, requesting("cpu", "4500m")), pool: pool(),
			nodes: []*build.NodeBuilder{node("a"), node("b").Cordoned().Allocatable("cpu", "64")},
			want:  "PoolCapacityShort: pool gpu has 1 ready and schedulable node with 4 CPU allocatable; a pod requests 4.5 CPU",
		},
		"a pod wants what no node has": {
			pods: pods(created, requesting("nvidia.com/gpu", "1")), pool: pool(), nodes: []*build.NodeBuilder{node("a")},
			want: "PoolCapacityShort: pool gpu has 1 ready node with 0 nvidia.com/gpu allocatable; a pod requests 1 nvidia.com/gpu",
		},
		"no node has everything that a pod wants": {
			pods: pods(created, requesting("memory", "8Gi", "cpu", "8")), pool: pool(),
			nodes: []*build.NodeBuilder{node("a"), node("b").Allocatable("cpu", "8", "memory", "4Gi")},
			want:  "PoolCapacityShort: no ready node of pool gpu has everything that a pod requests: 8 CPU, 8Gi memory",
		},
		"all nodes together have enough, but no node for the last pod": {
			pods: pods(created, requesting("cpu", "2500m")), pool: pool(), nodes: []*build.NodeBuilder{node("a"), node("b")},
			want: "PoolCapacityShort: pool gpu has room for 2 of 3 pods: 2 ready nodes with 4 CPU allocatable each; a pod requests 2.5 CPU",
		},
		"the scarcest resource is named": {
			pods: pods(created, count(9), requesting("cpu", "1", "memory", "3Gi")), pool: pool(), nodes: []*build.NodeBuilder{node("a"), node("b")},
			want: "PoolCapacityShort: pool gpu has room for 4 of 9 pods: 2 ready nodes with 8Gi memory allocatable each; a pod requests 3Gi memory",
		},
		"nodes take only so many pods": {
			pods: pods(created, count(21)), pool: pool(), nodes: []*build.NodeBuilder{node("a"), node("b")},
			want: "PoolCapacityShort: pool gpu has room for 20 of 21 pods: 2 ready nodes with 10 pods allocatable each",
		},
		"pods on nodes that take no more need no room": {
			pods: pods(on("b", "b"), requesting("cpu", "4")), pool: pool(), nodes: []*build.NodeBuilder{node("a"), node("b").Cordoned()},
		},
		"pods on nodes that take more do": {
			pods: pods(on("a"), requesting("cpu", "4")), pool: pool(), nodes: []*build.NodeBuilder{node("a"), node("b")},
			want: "PoolCapacityShort: pool gpu has room for 2 of 3 pods: 2 ready nodes with 4 CPU allocatable each; a pod requests 4 CPU",
		},
		"no node has the handler": {
			pods: pods(created), pool: lacksHandler(), nodes: []*build.NodeBuilder{node("a").Handlers("runc")},
			want: "PoolHandlerMissing: nodes of pool gpu cannot start its pods: handler nvidia is missing on 1 node: a",
		},
		"pods are on a node without the handler": {
			pods: pods(on("a", "b", "b")), pool: lacksHandler(), nodes: []*build.NodeBuilder{node("a").Handlers("runc"), node("b")},
			want: "PoolHandlerMissing: nodes of pool gpu cannot start its pods: handler nvidia is missing on 1 node: a",
		},
		"all pods are on nodes with the handler, or that do not tell": {
			pods: pods(on("c", "b", "b")), pool: lacksHandler(), nodes: []*build.NodeBuilder{node("a").Handlers("runc"), node("b"), node("c").Handlers()},
		},
		"a foreign node in the list does not count": {
			pods: pods(created, requesting("cpu", "8")), pool: pool(), nodes: []*build.NodeBuilder{node("a"), left("b").Allocatable("cpu", "64")},
			want: "PoolCapacityShort: pool gpu has 1 ready node with 4 CPU allocatable; a pod requests 8 CPU",
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			on := why.Pool{Name: "gpu"}
			for _, built := range tt.nodes {
				on.Nodes = append(on.Nodes, *built.Obj())
			}
			if tt.pool != nil {
				prepared, err := membership.NewPool(tt.pool.Obj())
				if err != nil {
					t.Fatal(err)
				}
				on.Pool = prepared
			}
			got := told(why.PodsMissing(tt.pods, on))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			slices.Reverse(on.Nodes)
			if again := told(why.PodsMissing(tt.pods, on)); again != got {
				t.Errorf("with the nodes in another order it says %q", again)
			}
		})
	}
}

func told(cause *why.Cause) string {
	switch {
	case cause == nil:
		return ""
	case cause.Refusal:
		return "refused " + cause.Reason + ": " + cause.Text
	default:
		return cause.Reason + ": " + cause.Text
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pod  *build.PodBuilder
		want corev1.ResourceList
	}{
		"no template": {want: build.Resources("pods", "1")},
		"nothing is requested": {
			pod:  build.Pod("web").Requests("cpu", "0"),
			want: build.Resources("pods", "1"),
		},
		"containers add up": {
			pod:  build.Pod("web").Requests("cpu", "1", "memory", "1Gi").Requests("cpu", "500m"),
			want: build.Resources("pods", "1", "cpu", "1500m", "memory", "1Gi"),
		},
		"a limit without a request is a request": {
			pod:  build.Pod("web").Requests("cpu", "1").Limits("cpu", "2", "nvidia.com/gpu", "1"),
			want: build.Resources("pods", "1", "cpu", "1", "nvidia.com/gpu", "1"),
		},
		"an init container runs alone, beside the sidecars before it": {
			pod: build.Pod("web").
				Init(build.Container("cpu", "1"), build.Sidecar("cpu", "1"), build.Container("cpu", "3")).
				Requests("cpu", "2", "memory", "1Gi"),
			want: build.Resources("pods", "1", "cpu", "4", "memory", "1Gi"),
		},
		"sidecars run beside the containers": {
			pod:  build.Pod("web").Init(build.Sidecar("cpu", "1")).Requests("cpu", "2"),
			want: build.Resources("pods", "1", "cpu", "3"),
		},
		"what the pod as a whole requests counts": {
			pod: build.Pod("web").Requests("cpu", "2", "nvidia.com/gpu", "1").With(func(p *corev1.Pod) {
				p.Spec.Resources = &corev1.ResourceRequirements{
					Requests: build.Resources("cpu", "5"), Limits: build.Resources("cpu", "6", "memory", "1Gi"),
				}
			}),
			want: build.Resources("pods", "1", "cpu", "5", "memory", "1Gi", "nvidia.com/gpu", "1"),
		},
		"a limit of the pod is no request of what a container requests none of": {
			pod: build.Pod("web").Requests("cpu", "0").With(func(p *corev1.Pod) {
				p.Spec.Resources = &corev1.ResourceRequirements{Limits: build.Resources("cpu", "8")}
			}),
			want: build.Resources("pods", "1"),
		},
		"overhead comes on top": {
			pod: build.Pod("web").Requests("cpu", "2").With(func(p *corev1.Pod) {
				p.Spec.Overhead = build.Resources("cpu", "250m")
			}),
			want: build.Resources("pods", "1", "cpu", "2250m"),
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var spec *corev1.PodSpec
			if tt.pod != nil {
				spec = &tt.pod.Obj().Spec
			}
			before := spec.DeepCopy()
			if diff := cmp.Diff(tt.want, why.Requests(spec)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, spec); diff != "" {
				t.Errorf("the template was changed (-before +after):\n%s", diff)
			}
		})
	}
}
