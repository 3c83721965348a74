// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// NodeBuilder builds a Node.
type NodeBuilder struct {
	Object[*corev1.Node, *NodeBuilder]
}

// Node starts a node that reports nothing: no conditions, no capacity, no handlers.
func Node(name string) *NodeBuilder {
	b := &NodeBuilder{}
	b.object, b.self = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}, b
	return b
}

// Label adds a label.
func (b *NodeBuilder) Label(key, value string) *NodeBuilder { return b.MetaLabel(key, value) }

// WithoutLabel removes a label.
func (b *NodeBuilder) WithoutLabel(key string) *NodeBuilder {
	delete(b.object.Labels, key)
	return b
}

// Role adds the role label that makes the node a member of the pool of that name.
func (b *NodeBuilder) Role(pool string) *NodeBuilder { return b.Label(nodesv1.RoleLabel(pool), "true") }

// Member adds the role label and the label by which pods of the pool find the node: the node has joined.
func (b *NodeBuilder) Member(pool string) *NodeBuilder {
	return b.Role(pool).Label(nodesv1.MemberLabel(pool), "")
}

// Taint adds a taint.
func (b *NodeBuilder) Taint(key, value string, effect corev1.TaintEffect) *NodeBuilder {
	b.object.Spec.Taints = append(b.object.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	return b
}

// Cordoned marks the node unschedulable.
func (b *NodeBuilder) Cordoned() *NodeBuilder {
	b.object.Spec.Unschedulable = true
	return b
}

// Ready sets the condition Ready.
func (b *NodeBuilder) Ready(value corev1.ConditionStatus) *NodeBuilder {
	b.object.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: value}}
	return b
}

// Handlers sets the runtime handlers that the node reports.
func (b *NodeBuilder) Handlers(names ...string) *NodeBuilder {
	b.object.Status.RuntimeHandlers = nil
	for _, name := range names {
		b.object.Status.RuntimeHandlers = append(b.object.Status.RuntimeHandlers, corev1.NodeRuntimeHandler{Name: name})
	}
	return b
}

// Address sets the internal address.
func (b *NodeBuilder) Address(ip string) *NodeBuilder {
	b.object.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}}
	return b
}

// Allocatable sets resources by name and quantity: "cpu", "4", "memory", "8Gi".
func (b *NodeBuilder) Allocatable(pairs ...string) *NodeBuilder {
	if b.object.Status.Allocatable == nil {
		b.object.Status.Allocatable = corev1.ResourceList{}
	}
	maps.Copy(b.object.Status.Allocatable, Resources(pairs...))
	return b
}
