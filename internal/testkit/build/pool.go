// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// PoolBuilder builds a NodePool.
type PoolBuilder struct {
	Object[*nodesv1.NodePool, *PoolBuilder]
}

// Pool starts a pool of generation 1 that wants nothing.
func Pool(name string) *PoolBuilder {
	b := &PoolBuilder{}
	b.object, b.self = &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}}, b
	return b
}

// Label adds a label that the pool puts on its nodes.
func (b *PoolBuilder) Label(key, value string) *PoolBuilder {
	if b.object.Spec.Labels == nil {
		b.object.Spec.Labels = map[string]nodesv1.LabelValue{}
	}
	b.object.Spec.Labels[key] = nodesv1.LabelValue(value)
	return b
}

// Taint adds a taint that the pool puts on its nodes.
func (b *PoolBuilder) Taint(key, value string, effect corev1.TaintEffect) *PoolBuilder {
	b.object.Spec.Taints = append(b.object.Spec.Taints, nodesv1.Taint{Key: key, Value: value, Effect: effect})
	return b
}

// Selects makes nodes with a label members of the pool.
func (b *PoolBuilder) Selects(key, value string) *PoolBuilder {
	b.object.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	return b
}

// CIDR makes nodes with an address in a segment members of the pool.
func (b *PoolBuilder) CIDR(cidr nodesv1.CIDR) *PoolBuilder {
	b.object.Spec.NodeCIDRs = append(b.object.Spec.NodeCIDRs, cidr)
	return b
}

// Overwrite sets what happens to keys that others have set.
func (b *PoolBuilder) Overwrite(policy nodesv1.OverwritePolicy) *PoolBuilder {
	b.object.Spec.Overwrite = policy
	return b
}

// Priority sets the priority among pools that want the same key.
func (b *PoolBuilder) Priority(priority int32) *PoolBuilder {
	b.object.Spec.Priority = priority
	return b
}

// Allows opens the pool to the namespaces that match the requirements, and to no others.
func (b *PoolBuilder) Allows(requirements ...metav1.LabelSelectorRequirement) *PoolBuilder {
	b.object.Spec.AllowedNamespaces = &nodesv1.AllowedNamespaces{
		From: nodesv1.NamespacesFromSelector, Selector: &metav1.LabelSelector{MatchExpressions: requirements},
	}
	return b
}

// DryRun makes the pool write nothing.
func (b *PoolBuilder) DryRun() *PoolBuilder {
	b.object.Spec.DryRun = true
	return b
}

// Handler sets the runtime handler in the status, as the controller resolves it.
func (b *PoolBuilder) Handler(name string) *PoolBuilder {
	b.object.Status.Handler = name
	return b
}

// Condition sets a condition.
func (b *PoolBuilder) Condition(conditionType string, value metav1.ConditionStatus, reason, message string) *PoolBuilder {
	condition(&b.object.Status.Conditions, metav1.Condition{Type: conditionType, Status: value, Reason: reason, Message: message})
	return b
}

// WithoutConditions removes all conditions, as of a pool that no controller has seen yet.
func (b *PoolBuilder) WithoutConditions() *PoolBuilder {
	b.object.Status.Conditions = nil
	return b
}
