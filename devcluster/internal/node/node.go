// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package node makes simulated nodes: Node objects that look as a kubelet would report them and that the kwok controller
// keeps alive. No machine stands behind them, and no address of theirs is ever dialled. For a real node it is what a
// cloud provider is elsewhere.
package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// SimulatedAnnotation marks the nodes that the kwok controller looks after.
	SimulatedAnnotation = "kwok.x-k8s.io/node"
	// SimulatedValue is what SimulatedAnnotation has to say for that.
	SimulatedValue = "fake"
	// RolePrefix is what role labels begin with.
	RolePrefix = "node-role.kubernetes.io/"
	// KubeletAddressType is the only type of address that the API server may dial a kubelet under. Simulated nodes
	// give the kwok controller's there.
	KubeletAddressType = corev1.NodeInternalDNS
	// ledgerAnnotation remembers what was applied to a node. What is in it and no longer asked for is taken away again;
	// what is not in it belongs to somebody else.
	ledgerAnnotation = "devcluster.windlass-operator.github.io/applied"
)

// Spec is what a node shall be like.
type Spec struct {
	Name string
	// Address is shown as the node's internal address where it is an IP address.
	Address string
	Roles   []string
	Labels  map[string]string
	Taints  []corev1.Taint
	// Real is set for a node with a kubelet, which sets the labels that every kubelet sets by itself.
	Real bool
}

// Numbered returns specs for node-0000 and so on.
func Numbered(count int) []Spec {
	specs := make([]Spec, count)
	// 198.18.0.0/15 is reserved for benchmarks: nobody's real network.
	address := netip.MustParseAddr("198.18.0.1")
	for i := range specs {
		specs[i] = Spec{Name: fmt.Sprintf("node-%04d", i), Address: address.String()}
		address = address.Next()
	}
	return specs
}

// MaxNumbered is how many addresses Numbered has to give.
const MaxNumbered = 1<<17 - 2

// ledger is what ledgerAnnotation holds.
type ledger struct {
	Labels []string       `json:"labels"`
	Taints []corev1.Taint `json:"taints,omitempty"`
}

// labels are those that every kubelet sets, where there is none, and over them what was asked for. Roles come last: they
// are the contract.
func (s Spec) labels() map[string]string {
	labels := map[string]string{}
	if !s.Real {
		labels = s.kubeletLabels()
	}
	maps.Copy(labels, s.Labels)
	for _, role := range s.Roles {
		labels[RolePrefix+role] = "true"
	}
	return labels
}

// kubeletLabels are the ones of a kubelet that is not there.
func (s Spec) kubeletLabels() map[string]string {
	return map[string]string{
		corev1.LabelHostname:   s.Name,
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: runtime.GOARCH,
		// The controller manager adds these old names where they are missing, with one more write per node.
		"beta.kubernetes.io/os":   "linux",
		"beta.kubernetes.io/arch": runtime.GOARCH,
		"type":                    "kwok",
	}
}

// ledger is deterministic, so that an unchanged spec never looks like a change.
func (s Spec) ledger() (string, error) {
	raw, err := json.Marshal(ledger{Labels: sortedKeys(s.labels()), Taints: s.Taints})
	if err != nil {
		return "", fmt.Errorf("cannot encode what is applied to node %q: %w", s.Name, err)
	}
	return string(raw), nil
}

// object is the node as it is created, ready from the start: letting the kwok controller make it ready would be one
// more write for each of thousands.
func (s Spec) object(version string, kubeletPort int32, now metav1.Time) (*corev1.Node, error) {
	applied, err := s.ledger()
	if err != nil {
		return nil, err
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:   s.Name,
			Labels: s.labels(),
			Annotations: map[string]string{
				SimulatedAnnotation:            SimulatedValue,
				"node.alpha.kubernetes.io/ttl": "0",
				ledgerAnnotation:               applied,
			},
		},
		Spec: corev1.NodeSpec{ProviderID: "kwok://" + s.Name, Taints: s.Taints},
		Status: corev1.NodeStatus{
			Phase: corev1.NodeRunning,
			Capacity: corev1.ResourceList{
				corev1.ResourceCPU:              resource.MustParse("16"),
				corev1.ResourceMemory:           resource.MustParse("64Gi"),
				corev1.ResourceEphemeralStorage: resource.MustParse("200Gi"),
				corev1.ResourcePods:             resource.MustParse("110"),
			},
			// What a kubelet and the system keep for themselves on a machine of that size.
			Allocatable: corev1.ResourceList{
				corev1.ResourceCPU:              resource.MustParse("15890m"),
				corev1.ResourceMemory:           resource.MustParse("60Gi"),
				corev1.ResourceEphemeralStorage: resource.MustParse("180Gi"),
				corev1.ResourcePods:             resource.MustParse("110"),
			},
			Addresses:       s.addresses(),
			Conditions:      conditions(now),
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: kubeletPort}},
			NodeInfo: corev1.NodeSystemInfo{
				Architecture: runtime.GOARCH, OperatingSystem: "linux", OSImage: "Simulated by kwok",
				KernelVersion: "6.12.0-kwok", ContainerRuntimeVersion: "containerd://2.4.0", KubeletVersion: version,
			},
		},
	}, nil
}

// addresses leaves out an address that is no IP: consumers of InternalIP parse it.
func (s Spec) addresses() []corev1.NodeAddress {
	addresses := []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: s.Name},
		{Type: KubeletAddressType, Address: "127.0.0.1"},
	}
	if ip, err := netip.ParseAddr(s.Address); err == nil {
		addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip.String()})
	}
	return addresses
}

// conditions are the ones that a healthy kubelet reports, word for word: explanations and filters match on them.
func conditions(now metav1.Time) []corev1.NodeCondition {
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: now,
		}
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition(corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "RouteCreated", "RouteController created a route"),
		condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
	}
}
