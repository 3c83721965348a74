// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package node creates simulated nodes: Node objects as a kubelet would report them, which the kwok controller keeps
// ready. They have no machines, and nothing connects to their addresses. For a real node, this package is the cloud
// provider.
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
	// SimulatedAnnotation marks the nodes that the kwok controller manages.
	SimulatedAnnotation = "kwok.x-k8s.io/node"
	// SimulatedValue is the value of SimulatedAnnotation on those nodes.
	SimulatedValue = "fake"
	// RolePrefix is the prefix of role labels.
	RolePrefix = "node-role.kubernetes.io/"
	// KubeletAddressType is the only type of address at which the API server may contact a kubelet. For simulated nodes
	// it is the address of the kwok controller.
	KubeletAddressType = corev1.NodeInternalDNS
	// ledgerAnnotation records what was applied to a node. devcluster removes what is in it and no longer in the spec; what
	// is not in it belongs to others.
	ledgerAnnotation = "devcluster.windlass-operator.github.io/applied"
)

// Spec declares a node.
type Spec struct {
	Name string
	// Address becomes the node's internal address if it is an IP address.
	Address string
	Roles   []string
	Labels  map[string]string
	Taints  []corev1.Taint
	// Real is set for a node with a kubelet, which sets the usual labels itself.
	Real bool
}

// Numbered returns specs for node-0000 and so on.
func Numbered(count int) []Spec {
	specs := make([]Spec, count)
	// 198.18.0.0/15 is reserved for benchmarks, so it is not used in real networks.
	address := netip.MustParseAddr("198.18.0.1")
	for i := range specs {
		specs[i] = Spec{Name: fmt.Sprintf("node-%04d", i), Address: address.String()}
		address = address.Next()
	}
	return specs
}

// MaxNumbered is how many addresses Numbered has.
const MaxNumbered = 1<<17 - 2

// ledger is the content of ledgerAnnotation.
type ledger struct {
	Labels []string       `json:"labels"`
	Taints []corev1.Taint `json:"taints,omitempty"`
}

// labels are those of every kubelet, if the node has none, overridden by the labels of the spec. Roles come last: they are
// the contract.
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

// kubeletLabels are the labels that a kubelet would set.
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

// ledger is deterministic, so that an unchanged spec causes no write.
func (s Spec) ledger() (string, error) {
	raw, err := json.Marshal(ledger{Labels: sortedKeys(s.labels()), Taints: s.Taints})
	if err != nil {
		return "", fmt.Errorf("cannot encode what is applied to node %q: %w", s.Name, err)
	}
	return string(raw), nil
}

// object is the node as it is created, ready from the start: if the kwok controller made it ready, that would be one more
// write for each of thousands.
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
			// What a kubelet and the system reserve on a machine of that size.
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

// addresses omits an address that is not an IP address: consumers of InternalIP parse it.
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
