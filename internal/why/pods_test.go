// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/why"
)

// pool returns a pool "gpu" whose RuntimeClass is ready.
func pool(change ...func(*nodesv1.NodePool)) *nodesv1.NodePool {
	object := &nodesv1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: "gpu"},
		Spec:       nodesv1.NodePoolSpec{Labels: map[string]nodesv1.LabelValue{"gpu": "yes"}},
		Status:     nodesv1.NodePoolStatus{Handler: "nvidia"},
	}
	for _, c := range append([]func(*nodesv1.NodePool){says(nodesv1.ConditionRuntimeClassReady, "True", "", "")}, change...) {
		c(object)
	}
	return object
}

// says replaces a condition of the pool.
func says(conditionType string, value metav1.ConditionStatus, reason, message string) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) {
		p.Status.Conditions = append(slices.DeleteFunc(p.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == conditionType
		}), metav1.Condition{Type: conditionType, Status: value, Reason: reason, Message: message})
	}
}

func silent(p *nodesv1.NodePool) { p.Status.Conditions = nil }

func paused(p *nodesv1.NodePool) {
	p.Annotations = map[string]string{status.PausedAnnotation: "true"}
}

func dryRun(p *nodesv1.NodePool) { p.Spec.DryRun = true }

func selective(p *nodesv1.NodePool) {
	p.Spec.AllowedNamespaces = &nodesv1.AllowedNamespaces{
		From: nodesv1.NamespacesFromSelector,
		Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}},
		}},
	}
}

// node returns a ready and synced member with 4 CPUs and 8Gi of memory that offers the pool's handler.
func node(name string, change ...func(*corev1.Node)) corev1.Node {
	object := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			nodesv1.RoleLabel("gpu"): "", nodesv1.MemberLabel("gpu"): "", "gpu": "yes",
		}},
		Status: corev1.NodeStatus{
			Conditions:      []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Allocatable:     resources("cpu", "4", "memory", "8Gi", "pods", "10"),
			RuntimeHandlers: []corev1.NodeRuntimeHandler{{Name: ""}, {Name: "nvidia"}},
		},
	}
	for _, c := range change {
		c(&object)
	}
	return object
}

func unready(n *corev1.Node)  { n.Status.Conditions[0].Status = corev1.ConditionUnknown }
func unsaid(n *corev1.Node)   { n.Status.Conditions = nil }
func cordoned(n *corev1.Node) { n.Spec.Unschedulable = true }
func unjoined(n *corev1.Node) { delete(n.Labels, nodesv1.MemberLabel("gpu")) }
func unlike(n *corev1.Node)   { n.Labels["gpu"] = "no" }
func left(n *corev1.Node)     { delete(n.Labels, nodesv1.RoleLabel("gpu")) }
func runcOnly(n *corev1.Node) { n.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Name: "runc"}} }
func handless(n *corev1.Node) { n.Status.RuntimeHandlers = nil }

func with(pairs ...string) func(*corev1.Node) {
	return func(n *corev1.Node) { maps.Copy(n.Status.Allocatable, resources(pairs...)) }
}

func resources(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for pair := range slices.Chunk(pairs, 2) {
		list[corev1.ResourceName(pair[0])] = resource.MustParse(pair[1])
	}
	return list
}

// pods returns three pods of which none exists.
func pods(change ...func(*why.Pods)) why.Pods {
	three := why.Pods{Wanted: 3, Namespace: &metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "c"}}}
	for _, c := range change {
		c(&three)
	}
	return three
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
		p.Spec = &corev1.PodSpec{Containers: []corev1.Container{
			{Resources: corev1.ResourceRequirements{Requests: resources(pairs...)}},
		}}
	}
}

func TestPodsMissing(t *testing.T) {
	t.Parallel()
	missing := says(nodesv1.ConditionHandlerAvailable, "False", "HandlerMissing", "handler nvidia is missing on 1 node: a")
	foreign := says(nodesv1.ConditionRuntimeClassReady, "False", "NameConflict", "RuntimeClass gpu belongs to somebody else")
	refused := says(nodesv1.ConditionRuntimeClassReady, "False", "RuntimeClassRefused", "no")
	tests := map[string]struct {
		pods  why.Pods
		pool  *nodesv1.NodePool
		nodes []corev1.Node
		// want is "Reason: text", with "refused" before what keeps pods from being created.
		want string
	}{
		"a pool in order is not to blame": {
			pods: pods(), pool: pool(), nodes: []corev1.Node{node("a")},
		},
		"there is no pool": {
			pods: pods(), want: "refused PoolNotFound: there is no pool gpu",
		},
		"there is no pool, but all pods have found a node": {
			pods: pods(on("a", "a", "b")),
		},
		"the pool is being deleted": {
			pods: pods(created), pool: pool(func(p *nodesv1.NodePool) { p.DeletionTimestamp = new(metav1.Unix(1, 0)) }),
			want: "refused PoolDeleting: pool gpu is being deleted",
		},
		"the namespace may not use the pool": {
			pods: pods(), pool: pool(selective), nodes: []corev1.Node{node("a")},
			want: "refused PoolNotAllowed: namespace shop may not use pool gpu, which is for namespaces with team in (a,b)",
		},
		"the namespace may use the pool": {
			pods: pods(func(p *why.Pods) { p.Namespace = &metav1.ObjectMeta{Labels: map[string]string{"team": "b"}} }),
			pool: pool(selective), nodes: []corev1.Node{node("a")},
		},
		"pods that were created before the pool was closed to them are let alone": {
			pods: pods(created), pool: pool(selective), nodes: []corev1.Node{node("a", cordoned)},
			want: "PoolCordoned: the only ready node of pool gpu is cordoned: a",
		},
		"the namespace is not known": {
			pods: pods(func(p *why.Pods) { p.Namespace = nil }), pool: pool(selective), nodes: []corev1.Node{node("a")},
		},
		"the pool says nothing yet": {
			pods: pods(), pool: pool(silent),
			want: "refused PoolRuntimeClassNotReady: pool gpu has no RuntimeClass yet",
		},
		"the RuntimeClass belongs to somebody else, which lets pods be created": {
			pods: pods(created), pool: pool(foreign), nodes: []corev1.Node{node("a")},
			want: "PoolRuntimeClassNotReady: the RuntimeClass of pool gpu is not ready: RuntimeClass gpu belongs to somebody else",
		},
		"the RuntimeClass is refused": {
			pods: pods(), pool: pool(refused), nodes: []corev1.Node{node("a")},
			want: "refused PoolRuntimeClassNotReady: the RuntimeClass of pool gpu is not ready: no",
		},
		"the RuntimeClass could not be looked at": {
			pods: pods(), pool: pool(says(nodesv1.ConditionRuntimeClassReady, "Unknown", "NotObserved", "")),
			nodes: []corev1.Node{node("a")},
		},
		"the pool is in dry run and has no RuntimeClass": {
			pods: pods(),
			pool: pool(dryRun, says(nodesv1.ConditionRuntimeClassReady, "Unknown", "DryRun", "a dry run writes no RuntimeClass")),
			want: "refused PoolPaused: pool gpu is in dry run, and the RuntimeClass of pool gpu is not ready: a dry run writes no RuntimeClass",
		},
		"the pool is paused and has no RuntimeClass": {
			pods: pods(), pool: pool(paused, silent),
			want: "refused PoolPaused: pool gpu is paused, and pool gpu has no RuntimeClass yet",
		},
		"the pool is paused and has not written its nodes": {
			pods: pods(created), pool: pool(paused), nodes: []corev1.Node{node("a", unjoined)},
			want: "PoolPaused: pool gpu is paused, and the only ready node of pool gpu lacks labels of the pool: a",
		},
		"the pool is paused and lacks nothing": {
			pods: pods(created), pool: pool(paused), nodes: []corev1.Node{node("a")},
		},
		"the pool has no node": {
			pods: pods(created), pool: pool(), want: "PoolHasNoNode: pool gpu has no node",
		},
		"a node that has left does not count": {
			pods: pods(created), pool: pool(), nodes: []corev1.Node{node("a", left)},
			want: "PoolHasNoNode: pool gpu has no node",
		},
		"no node is ready, and only some are named": {
			pods: pods(created), pool: pool(),
			nodes: []corev1.Node{node("d", unready), node("b", unsaid), node("e", unready), node("a", unready), node("c", unready)},
			want:  "PoolHasNoReadyNode: all 5 nodes of pool gpu are not ready: a, b, c and 2 more",
		},
		"no node is ready, and the pods are on them": {
			pods: pods(on("a", "a", "a")), pool: pool(), nodes: []corev1.Node{node("a", unready)},
			want: "PoolHasNoReadyNode: the only node of pool gpu is not ready: a",
		},
		"no ready node carries the labels": {
			pods: pods(created), pool: pool(),
			nodes: []corev1.Node{node("b", unjoined), node("a", unlike), node("c", unready)},
			want:  "PoolNodesNotSynced: all 2 ready nodes of pool gpu lack labels of the pool: a, b",
		},
		"one node is enough": {
			pods: pods(created), pool: pool(),
			nodes: []corev1.Node{node("b", unjoined), node("a", cordoned), node("c", unready), node("d")},
		},
		"all ready nodes are cordoned": {
			pods: pods(created), pool: pool(), nodes: []corev1.Node{node("b", cordoned), node("a", cordoned), node("c", unready)},
			want: "PoolCordoned: all 2 ready nodes of pool gpu are cordoned: a, b",
		},
		"pods that run nowhere else are not the affair of cordons": {
			pods: pods(on("a", "a", "b")), pool: pool(), nodes: []corev1.Node{node("a", cordoned)},
		},
		"a pod is greater than each node": {
			pods: pods(created, requesting("cpu", "8", "memory", "1Gi")), pool: pool(), nodes: []corev1.Node{node("a"), node("b")},
			want: "PoolCapacityShort: pool gpu has 2 ready nodes with 4 CPU allocatable each; a pod requests 8 CPU",
		},
		"a pod is greater than the greatest node": {
			pods: pods(created, requesting("memory", "32Gi")), pool: pool(),
			nodes: []corev1.Node{node("a"), node("b", with("memory", "16Gi"))},
			want:  "PoolCapacityShort: pool gpu has 2 ready nodes with at most 16Gi memory allocatable each; a pod requests 32Gi memory",
		},
		"a pod is greater than the only node that takes it": {
			pods: pods(created, requesting("cpu", "4500m")), pool: pool(),
			nodes: []corev1.Node{node("a"), node("b", cordoned, with("cpu", "64"))},
			want:  "PoolCapacityShort: pool gpu has 1 ready and schedulable node with 4 CPU allocatable; a pod requests 4.5 CPU",
		},
		"a pod wants what no node has": {
			pods: pods(created, requesting("nvidia.com/gpu", "1")), pool: pool(), nodes: []corev1.Node{node("a")},
			want: "PoolCapacityShort: pool gpu has 1 ready node with 0 nvidia.com/gpu allocatable; a pod requests 1 nvidia.com/gpu",
		},
		"no node has everything that a pod wants": {
			pods: pods(created, requesting("memory", "8Gi", "cpu", "8")), pool: pool(),
			nodes: []corev1.Node{node("a"), node("b", with("cpu", "8", "memory", "4Gi"))},
			want:  "PoolCapacityShort: pool gpu has no ready node with all that a pod requests: 8 CPU, 8Gi memory",
		},
		"all nodes together have enough, but no node for the last pod": {
			pods: pods(created, requesting("cpu", "2500m")), pool: pool(), nodes: []corev1.Node{node("a"), node("b")},
			want: "PoolCapacityShort: pool gpu has room for 2 of 3 pods: 2 ready nodes with 4 CPU allocatable each; a pod requests 2.5 CPU",
		},
		"the scarcest resource is named": {
			pods: pods(created, count(9), requesting("cpu", "1", "memory", "3Gi")), pool: pool(), nodes: []corev1.Node{node("a"), node("b")},
			want: "PoolCapacityShort: pool gpu has room for 4 of 9 pods: 2 ready nodes with 8Gi memory allocatable each; a pod requests 3Gi memory",
		},
		"nodes take only so many pods": {
			pods: pods(created, count(21)), pool: pool(), nodes: []corev1.Node{node("a"), node("b")},
			want: "PoolCapacityShort: pool gpu has room for 20 of 21 pods: 2 ready nodes with 10 pods allocatable each",
		},
		"pods on nodes that take no more need no room": {
			pods: pods(on("b", "b"), requesting("cpu", "4")), pool: pool(), nodes: []corev1.Node{node("a"), node("b", cordoned)},
		},
		"pods on nodes that take more do": {
			pods: pods(on("a"), requesting("cpu", "4")), pool: pool(), nodes: []corev1.Node{node("a"), node("b")},
			want: "PoolCapacityShort: pool gpu has room for 2 of 3 pods: 2 ready nodes with 4 CPU allocatable each; a pod requests 4 CPU",
		},
		"no node has the handler": {
			pods: pods(created), pool: pool(missing), nodes: []corev1.Node{node("a", runcOnly)},
			want: "PoolHandlerMissing: nodes of pool gpu cannot start its pods: handler nvidia is missing on 1 node: a",
		},
		"pods are on a node without the handler": {
			pods: pods(on("a", "b", "b")), pool: pool(missing), nodes: []corev1.Node{node("a", runcOnly), node("b")},
			want: "PoolHandlerMissing: nodes of pool gpu cannot start its pods: handler nvidia is missing on 1 node: a",
		},
		"all pods are on nodes with the handler, or that do not tell": {
			pods: pods(on("c", "b", "b")), pool: pool(missing), nodes: []corev1.Node{node("a", runcOnly), node("b"), node("c", handless)},
		},
		"a foreign node in the list does not count": {
			pods: pods(created, requesting("cpu", "8")), pool: pool(), nodes: []corev1.Node{node("a"), node("b", left, with("cpu", "64"))},
			want: "PoolCapacityShort: pool gpu has 1 ready node with 4 CPU allocatable; a pod requests 8 CPU",
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			on := why.Pool{Name: "gpu", Nodes: tt.nodes}
			if tt.pool != nil {
				prepared, err := membership.NewPool(tt.pool)
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
	container := func(requests, limits corev1.ResourceList) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
	}
	sidecar := func(requests corev1.ResourceList) corev1.Container {
		c := container(requests, nil)
		c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		return c
	}
	tests := map[string]struct {
		spec *corev1.PodSpec
		want corev1.ResourceList
	}{
		"no template": {want: resources("pods", "1")},
		"nothing is requested": {
			spec: &corev1.PodSpec{Containers: []corev1.Container{container(resources("cpu", "0"), nil)}},
			want: resources("pods", "1"),
		},
		"containers add up": {
			spec: &corev1.PodSpec{Containers: []corev1.Container{
				container(resources("cpu", "1", "memory", "1Gi"), nil), container(resources("cpu", "500m"), nil),
			}},
			want: resources("pods", "1", "cpu", "1500m", "memory", "1Gi"),
		},
		"who only limits requests as much": {
			spec: &corev1.PodSpec{Containers: []corev1.Container{
				container(resources("cpu", "1"), resources("cpu", "2", "nvidia.com/gpu", "1")),
			}},
			want: resources("pods", "1", "cpu", "1", "nvidia.com/gpu", "1"),
		},
		"an init container runs alone, beside the sidecars before it": {
			spec: &corev1.PodSpec{
				InitContainers: []corev1.Container{
					container(resources("cpu", "1"), nil), sidecar(resources("cpu", "1")), container(resources("cpu", "3"), nil),
				},
				Containers: []corev1.Container{container(resources("cpu", "2", "memory", "1Gi"), nil)},
			},
			want: resources("pods", "1", "cpu", "4", "memory", "1Gi"),
		},
		"sidecars run beside the containers": {
			spec: &corev1.PodSpec{
				InitContainers: []corev1.Container{sidecar(resources("cpu", "1"))},
				Containers:     []corev1.Container{container(resources("cpu", "2"), nil)},
			},
			want: resources("pods", "1", "cpu", "3"),
		},
		"what the pod as a whole requests counts": {
			spec: &corev1.PodSpec{
				Resources:  &corev1.ResourceRequirements{Requests: resources("cpu", "5"), Limits: resources("cpu", "6", "memory", "1Gi")},
				Containers: []corev1.Container{container(resources("cpu", "2", "nvidia.com/gpu", "1"), nil)},
			},
			want: resources("pods", "1", "cpu", "5", "memory", "1Gi", "nvidia.com/gpu", "1"),
		},
		"overhead comes on top": {
			spec: &corev1.PodSpec{
				Overhead:   resources("cpu", "250m"),
				Containers: []corev1.Container{container(resources("cpu", "2"), nil)},
			},
			want: resources("pods", "1", "cpu", "2250m"),
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			before := tt.spec.DeepCopy()
			if diff := cmp.Diff(tt.want, why.Requests(tt.spec)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tt.spec); diff != "" {
				t.Errorf("the template was changed (-before +after):\n%s", diff)
			}
		})
	}
}
