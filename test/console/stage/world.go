// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// gpuPool is the pool that drains and rolls out.
const gpuPool = "gpu"

// World is what visits look at: pools that share nodes, one of which drains and rolls out, machines on four hosts, and a PodSet of which one
// pod waits. No controller runs, so everything stays as it is put here.
type World struct {
	*testkit.Harness

	Namespace string
}

// Furnish creates a world in a namespace that there is.
func Furnish(t *testing.T, h *testkit.Harness, namespace string) World {
	t.Helper()
	w := World{Harness: h, Namespace: namespace}
	w.clear(t)
	for _, name := range []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"} {
		w.node(t, name, "64", gpuPool)
	}
	w.node(t, "gpu-05", "64", gpuPool, "edge")
	w.node(t, "edge-01", "16", "edge")
	w.node(t, "edge-02", "16", "edge")
	w.node(t, "edge-03", "16", "edge", "worker")
	for i := range 12 {
		w.node(t, fmt.Sprintf("worker-%02d", i+1), "16", "worker")
	}
	w.pools(t)
	w.machines(t)
	w.podset(t)
	return w
}

// clear removes what an earlier run of the test has left: nodes, pools and machines are counted in the page.
func (w World) clear(t *testing.T) {
	t.Helper()
	var pools nodesv1.NodePoolList
	must(t, w.Live.List(t.Context(), &pools))
	for i := range pools.Items {
		pools.Items[i].Finalizers = nil
		must(t, w.Live.Update(t.Context(), &pools.Items[i]))
		must(t, client.IgnoreNotFound(w.Live.Delete(t.Context(), &pools.Items[i])))
	}
	var machines cloudnativev1alpha1.VirtualMachineList
	must(t, w.Live.List(t.Context(), &machines))
	for i := range machines.Items {
		must(t, w.Live.Delete(t.Context(), &machines.Items[i]))
	}
	must(t, w.Live.DeleteAllOf(t.Context(), &corev1.Node{}))
	must(t, w.Live.DeleteAllOf(t.Context(), &appsv1alpha1.PodSet{}, client.InNamespace(w.Namespace)))
	must(t, w.Live.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(w.Namespace), client.GracePeriodSeconds(0)))
}

func (w World) node(t *testing.T, name, cpu string, pools ...string) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"topology.kubernetes.io/zone": "zone-" + string('a'+name[len(name)-1]%3), "node.kubernetes.io/instance-type": "c" + cpu,
	}}}
	for _, pool := range pools {
		node.Labels["node-role.kubernetes.io/"+pool] = "true"
		if name != "gpu-05" || pool != gpuPool {
			node.Labels["nodepool.node-restriction.kubernetes.io/"+pool] = ""
		}
		if pool == "edge" {
			node.Labels["node-pool.lailin.xyz/edge"], node.Labels["node-pool.lailin.xyz/uplink"] = "", "lte"
		}
		if pool == gpuPool {
			node.Labels["node-pool.lailin.xyz/gpu"] = "a100"
			node.Labels["node-pool.lailin.xyz/driver"] = "580"
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "node-pool.lailin.xyz", Value: gpuPool, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	node.Spec.Unschedulable = name == "worker-04"
	w.Create(t, node)
	sizes := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("62Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	ready, pressure := corev1.ConditionTrue, corev1.ConditionFalse
	if name == "worker-07" {
		ready = corev1.ConditionUnknown
	}
	if name == "worker-10" {
		pressure = corev1.ConditionTrue
	}
	node.Status = corev1.NodeStatus{
		Capacity: sizes, Allocatable: sizes, NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.37.1"},
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.20.3.3"}},
		Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: ready, Reason: "NodeStatus", Message: "Kubelet stopped posting node status.", LastTransitionTime: since()},
			{Type: corev1.NodeDiskPressure, Status: pressure, Reason: "KubeletHasDiskPressure", Message: "kubelet has disk pressure", LastTransitionTime: since()},
		},
	}
	must(t, w.Live.Status().Update(t.Context(), node))
}

// since is when everything became as it is: long ago for what is only said after a while, and the same for all, so that their order is that
// of their names.
func since() metav1.Time { return metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Hour)) }

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: since(), ObservedGeneration: 1}
}

func (w World) pools(t *testing.T) {
	t.Helper()
	one := nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: gpuPool}}
	one.Spec.Labels = map[string]nodesv1.LabelValue{"node-pool.lailin.xyz/gpu": "a100", "node-pool.lailin.xyz/driver": "580"}
	one.Spec.Drain = &nodesv1.Drain{Policy: nodesv1.DrainEvict}
	two := nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "edge"}}
	two.Spec.Labels = map[string]nodesv1.LabelValue{"node-pool.lailin.xyz/edge": "", "node-pool.lailin.xyz/uplink": "lte"}
	three := nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "worker"}}
	three.Spec.Priority = 10
	for _, pool := range []*nodesv1.NodePool{&one, &two, &three} {
		w.Create(t, pool)
		pool.Status.ObservedGeneration = 1
		pool.Status.Conditions = []metav1.Condition{condition("Ready", metav1.ConditionTrue, "Ready", "every member has what the pool wants")}
	}
	one.Status.NodeCount, one.Status.ReadyNodeCount, one.Status.SyncedNodeCount, one.Status.SharedNodeCount = 4, 4, 2, 1
	one.Status.Rollout = &nodesv1.RolloutStatus{Nodes: []string{"gpu-03"}, WaitingNodeCount: 1, TurnTime: new(since())}
	one.Status.Draining = []nodesv1.DrainingNode{{
		Node: "gpu-04", UID: "4", StartTime: metav1.NewTime(time.Now().Add(-3 * time.Minute)), PodsLeft: 1,
		Blocked: []string{"ml/train-x2kqp"}, Refusal: "budget train keeps 5 available, and 5 are",
	}}
	one.Status.Conditions = []metav1.Condition{
		condition("Ready", metav1.ConditionFalse, "DrainBlocked", "waiting for 1 pod whose eviction is refused, mostly by a disruption budget: ml/train-x2kqp"),
		condition("Reconciling", metav1.ConditionTrue, "DrainBlocked", "waiting for 1 pod"),
	}
	for _, pool := range []*nodesv1.NodePool{&one, &two, &three} {
		must(t, w.Live.Status().Update(t.Context(), pool))
	}
}

func (w World) machines(t *testing.T) {
	t.Helper()
	hosts := []string{"rack-1", "rack-1", "rack-1", "hypervisor", "hypervisor", "rack-2"}
	for i, host := range hosts {
		vm := &cloudnativev1alpha1.VirtualMachine{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("runner-%02d", i+1)},
			Spec: cloudnativev1alpha1.VirtualMachineSpec{Driver: "simulated", Resource: corev1.ResourceList{
				cloudnativev1alpha1.ResourceCPU: resource.MustParse("2"), cloudnativev1alpha1.ResourceMemory: resource.MustParse("4Gi"),
			}},
		}
		w.Create(t, vm)
		vm.Status = cloudnativev1alpha1.VirtualMachineStatus{
			ObservedGeneration: 1, Phase: "Active", Server: &cloudnativev1alpha1.Server{Driver: "simulated", Host: host, Addresses: []string{fmt.Sprintf("10.88.0.%d", i+10)}},
			Conditions: []metav1.Condition{condition("Ready", metav1.ConditionTrue, "Ready", "runs")},
		}
		if host == "rack-2" {
			vm.Status.Phase = "Unknown"
			vm.Status.Conditions = []metav1.Condition{condition("Ready", metav1.ConditionUnknown, "HostUnreachable", "dial tcp 10.20.9.2:2376: i/o timeout")}
		}
		must(t, w.Live.Status().Update(t.Context(), vm))
	}
}

func (w World) podset(t *testing.T) {
	t.Helper()
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "train", Image: "registry.example/ml/train:2026.11.3",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("48"), corev1.ResourceMemory: resource.MustParse("32Gi")}},
	}}}}
	set := &appsv1alpha1.PodSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "train"},
		Spec:       appsv1alpha1.PodSetSpec{Size: 6, NodePool: gpuPool, Template: &template},
	}
	w.Create(t, set)
	set.Status.ObservedGeneration, set.Status.Replicas, set.Status.AvailableReplicas, set.Status.UpdatedReplicas = 1, 6, 5, 6
	set.Status.Selector = "app=podSet,podSet_cr=train"
	set.Status.Nodes = []string{}
	message := "waiting for 1 of 6 pods to be available: pool gpu has room for 4 of 6 pods: 4 ready nodes with 64 CPU allocatable each; a pod requests 48 CPU"
	set.Status.Conditions = []metav1.Condition{
		condition("Ready", metav1.ConditionFalse, "PoolCapacityShort", message), condition("Stalled", metav1.ConditionTrue, "PoolCapacityShort", "after progressDeadlineSeconds"),
	}
	must(t, w.Live.Status().Update(t.Context(), set))
	for i, node := range []string{"gpu-01", "gpu-02", "gpu-03", "gpu-05", "gpu-04", ""} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("train-6c9f7d5b8-%c4hn", 'a'+i), Labels: map[string]string{"app": "podSet", "podSet_cr": "train"}},
			Spec:       *template.Spec.DeepCopy(),
		}
		pod.Spec.NodeName = node
		w.Create(t, pod)
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "train", Ready: true}}
		if node == "" {
			pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/20 nodes are available: 4 Insufficient cpu, 16 node(s) did not match the node selector.",
			}}}
		}
		must(t, w.Live.Status().Update(t.Context(), pod))
	}
}
