// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

const (
	// poolName is the name of the pool that all nodes are members of.
	poolName = "bench"
	// imagesPerNode and the length of their names make a node as large as one of a real cluster: a kubelet lists 50.
	imagesPerNode = 30
	// simulatedAnnotation and simulatedValue mark the nodes that the simulator keeps alive.
	simulatedAnnotation = "kwok.x-k8s.io/node"
	simulatedValue      = "fake"
	// writers is how many writes the bench has under way at once when it sets the stage.
	writers = 16
)

// simulated makes a node one that runs pods.
func simulated(node *corev1.Node) {
	node.Annotations[simulatedAnnotation] = simulatedValue
	delete(node.Labels, nodesv1.RoleLabel(poolName))
}

// addNodes makes the nodes of that number that are not there yet, as kubelets do: create, then report the status.
func (r *controlPlane) addNodes(ctx context.Context, count int, changes ...func(*corev1.Node)) error {
	kubelet, err := client.New(as(r.Config, agentKubelet), client.Options{Scheme: r.scheme})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	first := r.ownNodes
	err = forEach(ctx, writers, max(0, count-first), func(ctx context.Context, i int) error {
		node := newNode(first + i)
		for _, change := range changes {
			change(node)
		}
		if err := kubelet.Create(ctx, node, client.FieldOwner("kubelet")); err != nil {
			return fmt.Errorf("cannot create node %q: %w", node.Name, err)
		}
		if err := beat(ctx, kubelet, node.Name); err != nil {
			return err
		}
		lease := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: node.Name},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &node.Name, LeaseDurationSeconds: new(int32(40))},
		}
		return client.IgnoreAlreadyExists(kubelet.Create(ctx, lease))
	})
	r.ownNodes = max(first, count)
	return err
}

// beat reports that a node is alive, the way kubelets do.
func beat(ctx context.Context, kubelet client.Client, name string) error {
	type beat struct {
		Type              corev1.NodeConditionType `json:"type"`
		LastHeartbeatTime metav1.Time              `json:"lastHeartbeatTime"`
	}
	var order []map[string]string
	var beats []beat
	for _, condition := range conditions(metav1.Now()) {
		order = append(order, map[string]string{"type": string(condition.Type)})
		beats = append(beats, beat{condition.Type, condition.LastHeartbeatTime})
	}
	raw, err := json.Marshal(map[string]any{"status": map[string]any{"$setElementOrder/conditions": order, "conditions": beats}})
	if err != nil {
		return fmt.Errorf("cannot encode a heartbeat: %w", err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := kubelet.Status().Patch(ctx, node, client.RawPatch(types.StrategicMergePatchType, raw), client.FieldOwner("kubelet")); err != nil {
		return fmt.Errorf("cannot report the status of node %q: %w", name, err)
	}
	return nil
}

func nodeName(i int) string {
	return fmt.Sprintf("ip-10-%d-%d-%d.eu-central-1.compute.internal", i>>16&255, i>>8&255, i&255)
}

// newNode returns a node of the size and shape that cloud providers and a year's worth of images give it.
func newNode(i int) *corev1.Node {
	name := nodeName(i)
	zone := fmt.Sprintf("eu-central-1%c", 'a'+i%3)
	resources := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("65012344Ki"),
		corev1.ResourcePods: *resource.NewQuantity(podsPerNode, resource.DecimalSI), corev1.ResourceEphemeralStorage: resource.MustParse("209702892Ki"),
		"hugepages-1Gi": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("0"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				nodesv1.RoleLabel(poolName):     "",
				corev1.LabelHostname:            name,
				corev1.LabelOSStable:            "linux",
				corev1.LabelArchStable:          "amd64",
				corev1.LabelTopologyZone:        zone,
				corev1.LabelTopologyRegion:      "eu-central-1",
				corev1.LabelInstanceTypeStable:  "m6i.4xlarge",
				"beta.kubernetes.io/arch":       "amd64",
				"beta.kubernetes.io/os":         "linux",
				"topology.ebs.csi.aws.com/zone": zone,
				"example.com/rack":              fmt.Sprintf("r%02d", i%40),
				"example.com/image-generation":  "2025-11",
			},
			Annotations: map[string]string{
				"volumes.kubernetes.io/controller-managed-attach-detach": "true",
				"csi.volume.kubernetes.io/nodeid":                        fmt.Sprintf(`{"ebs.csi.aws.com":"i-0%015x"}`, i),
				"alpha.kubernetes.io/provided-node-ip":                   fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255),
			},
		},
		Spec: corev1.NodeSpec{ProviderID: fmt.Sprintf("aws:///%s/i-0%015x", zone, i), PodCIDR: fmt.Sprintf("100.%d.%d.0/24", 64+i>>8, i&255)},
		Status: corev1.NodeStatus{
			Capacity: resources, Allocatable: resources,
			Conditions: conditions(metav1.Now()),
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)},
				{Type: corev1.NodeHostName, Address: name},
				{Type: corev1.NodeInternalDNS, Address: name},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: fmt.Sprintf("%032x", i), SystemUUID: fmt.Sprintf("%032x", i), BootID: fmt.Sprintf("%032x", i),
				KernelVersion: "6.12.48-1-amd64", OSImage: "Debian GNU/Linux 13 (trixie)", ContainerRuntimeVersion: "containerd://2.1.4",
				KubeletVersion: "v1.37.1", OperatingSystem: "linux", Architecture: "amd64",
			},
			Images: images(i),
		},
	}
}

func conditions(now metav1.Time) []corev1.NodeCondition {
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: kind, Status: status, Reason: reason, Message: message,
			LastHeartbeatTime: now, LastTransitionTime: metav1.NewTime(now.Add(-24 * time.Hour)),
		}
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "RouteCreated", "RouteController created a route"),
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
	}
}

func images(node int) []corev1.ContainerImage {
	list := make([]corev1.ContainerImage, 0, imagesPerNode)
	for i := range imagesPerNode {
		repository := fmt.Sprintf("registry.example.com/platform/team-%02d/service-%03d", i%10, i*7%100)
		list = append(list, corev1.ContainerImage{
			Names: []string{
				fmt.Sprintf("%s@sha256:%064x", repository, (node%20+1)*1_000_003*(i+1)), fmt.Sprintf("%s:v1.%d.%d", repository, i, i*3),
			},
			SizeBytes: int64(20_000_000 + i*1_234_567),
		})
	}
	return list
}

// forEach calls do for 0 to count-1, so many at a time, and stops at the first error.
func forEach(ctx context.Context, workers, count int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	go func() {
		defer close(next)
		for i := range count {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
