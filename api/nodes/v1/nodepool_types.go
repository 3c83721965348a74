// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultHandler is the RuntimeClass handler of a pool that names none.
const DefaultHandler = "runc"

// NodePool is a named set of nodes. Every node that carries the label node-role.kubernetes.io/<name of the pool>, with
// any value, is a member: it gets the pool's labels and taints, and loses them again when it leaves. A node may be
// a member of many pools. Pods choose a pool by runtimeClassName: the pool owns a RuntimeClass of its own name.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=wnp,categories=windlass
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodeCount`,description="Nodes that are members"
// +kubebuilder:printcolumn:name="Ready Nodes",type=integer,JSONPath=`.status.readyNodeCount`,description="Members whose Ready condition is True"
// +kubebuilder:printcolumn:name="Handler",type=string,JSONPath=`.status.handler`,description="Handler of the pool's RuntimeClass"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the pool is in its desired state"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is, or is not"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Synced",type=integer,priority=1,JSONPath=`.status.syncedNodeCount`,description="Members that carry all of the pool's labels and taints"
// +kubebuilder:printcolumn:name="CPU",type=string,priority=1,JSONPath=`.status.allocatable.cpu`,description="Allocatable CPU of all members"
// +kubebuilder:printcolumn:name="Memory",type=string,priority=1,JSONPath=`.status.allocatable.memory`,description="Allocatable memory of all members"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="a pool's name is part of label keys and may have at most 63 characters"
// +kubebuilder:validation:XValidation:rule="!(self.metadata.name in ['control-plane', 'controlplane', 'master', 'etcd']) || !has(self.spec) || !has(self.spec.taints) || self.spec.taints.all(t, t.effect != 'NoExecute')",message="a pool of control-plane nodes may not have a NoExecute taint: it would evict the control plane"
type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the members of the pool shall carry.
	// +optional
	Spec NodePoolSpec `json:"spec,omitempty"`

	// Status is what Windlass has observed and done.
	// +optional
	Status NodePoolStatus `json:"status,omitempty"`
}

// NodePoolSpec is the desired state of a pool.
type NodePoolSpec struct {
	// Labels are put on every member and are the node selector of the pool's RuntimeClass. A label that somebody else
	// has set to a different value is left as it is and reported in the condition Conflicted. Default: none. Mutable.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue())",message="every key must be a label key: an optional DNS prefix and a slash, then at most 63 letters, digits, '-', '_' or '.'"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('node-role.kubernetes.io/') && !k.startsWith('nodepool.node-restriction.kubernetes.io/') && !(k in ['kubernetes.io/hostname', 'kubernetes.io/os', 'kubernetes.io/arch']))",message="membership labels (node-role.kubernetes.io/, nodepool.node-restriction.kubernetes.io/) and kubernetes.io/hostname, os and arch are not a pool's to set"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// Taints are put on every member, and the pool's RuntimeClass tolerates them. Unique by key and effect. A taint of
	// the same key and effect that somebody else has set to a different value is left as it is and reported in the
	// condition Conflicted. Default: none. Mutable.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=32
	Taints []Taint `json:"taints,omitempty"`

	// Handler is the container runtime handler of the pool's RuntimeClass. Default: runc. Mutable: a RuntimeClass cannot
	// change its handler, so it is deleted and created again; running pods are not touched.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Handler string `json:"handler,omitempty"`
}

// LabelValue is the value of a label: at most 63 letters, digits, '-', '_' or '.', the first and the last a letter or digit.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue string

// Taint keeps pods that do not tolerate it off a node.
// +kubebuilder:validation:XValidation:rule="!self.key.startsWith('node.cloudprovider.kubernetes.io/') && (!self.key.startsWith('node.kubernetes.io/') || self.key == 'node.kubernetes.io/out-of-service')",message="taints under node.kubernetes.io/ and node.cloudprovider.kubernetes.io/ belong to Kubernetes"
type Taint struct {
	// Key is the taint's key: an optional DNS prefix and a slash, then a name of at most 63 characters. Required.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key"`

	// Value is the taint's value, a label value. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
	Value string `json:"value,omitempty"`

	// Effect is what happens to pods that do not tolerate the taint: NoSchedule, PreferNoSchedule or NoExecute. NoExecute
	// deletes such pods that already run on the node at once, whatever their disruption budget says. Required.
	// +required
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect corev1.TaintEffect `json:"effect"`
}

// NodePoolStatus is the observed state of a pool.
type NodePoolStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// NodeCount is the number of member nodes.
	// +optional
	// +kubebuilder:default=0
	NodeCount int32 `json:"nodeCount"`

	// ReadyNodeCount is the number of members whose own Ready condition is True.
	// +optional
	// +kubebuilder:default=0
	ReadyNodeCount int32 `json:"readyNodeCount"`

	// SyncedNodeCount is the number of members that carry all labels and taints of the pool.
	// +optional
	// +kubebuilder:default=0
	SyncedNodeCount int32 `json:"syncedNodeCount"`

	// ConflictedNodeCount is the number of members on which another pool or somebody else holds a key of this pool.
	// +optional
	// +kubebuilder:default=0
	ConflictedNodeCount int32 `json:"conflictedNodeCount"`

	// SharedNodeCount is the number of members that are members of another pool as well. Sums over pools count them twice.
	// +optional
	// +kubebuilder:default=0
	SharedNodeCount int32 `json:"sharedNodeCount"`

	// Capacity is the sum of the capacities of all members.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// Allocatable is the sum of what pods may request on all members.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`

	// Handler is the handler of the pool's RuntimeClass that is in force.
	// +optional
	Handler string `json:"handler,omitempty"`

	// Ledger holds every key that Windlass may have put on a node for this pool. It is written before the first node is,
	// and a key is only ever taken off a node when both the ledger and the node's own record name it.
	// +optional
	Ledger Ledger `json:"ledger,omitempty"`

	// Conditions tell the state of the pool: Ready is the summary, Reconciling and Stalled say whether Windlass is still
	// at work or cannot go on, and NodesSynced, RuntimeClassReady, Conflicted and Paused are its parts.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Ledger is the pool's own record of the keys that it may have put on nodes.
type Ledger struct {
	// Labels are label keys, sorted.
	// +optional
	// +listType=set
	Labels []string `json:"labels,omitempty"`

	// Taints are taints as "key:effect", sorted.
	// +optional
	// +listType=set
	Taints []string `json:"taints,omitempty"`
}

// NodePoolList is a list of pools.
//
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the pools.
	Items []NodePool `json:"items"`
}

// GetConditions returns the conditions in the status.
func (p *NodePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (p *NodePool) SetConditions(conditions []metav1.Condition) { p.Status.Conditions = conditions }

// SetObservedGeneration records the generation of the spec that the status describes.
func (p *NodePool) SetObservedGeneration(generation int64) {
	p.Status.ObservedGeneration = generation
}
