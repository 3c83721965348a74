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
// any value, is a member, and so is every node that nodeSelector or nodeCIDRs selects. A member gets the pool's labels, annotations
// and taints, and loses them again when it leaves. A node may be a member of many pools. Pods choose a pool by runtimeClassName: the pool owns a RuntimeClass of its own name.
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
// +kubebuilder:printcolumn:name="Priority",type=integer,priority=1,JSONPath=`.spec.priority`,description="Decides conflicts between pools: the higher one wins"
// +kubebuilder:printcolumn:name="CPU",type=string,priority=1,JSONPath=`.status.allocatable.cpu`,description="Allocatable CPU of all members"
// +kubebuilder:printcolumn:name="Memory",type=string,priority=1,JSONPath=`.status.allocatable.memory`,description="Allocatable memory of all members"
// +kubebuilder:selectablefield:JSONPath=`.spec.handler`
// +kubebuilder:selectablefield:JSONPath=`.spec.priority`
// +kubebuilder:selectablefield:JSONPath=`.spec.overwrite`
// +kubebuilder:selectablefield:JSONPath=`.spec.deletionPolicy`
// +kubebuilder:selectablefield:JSONPath=`.spec.dryRun`
// +kubebuilder:selectablefield:JSONPath=`.status.handler`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="a pool's name is part of label keys and may have at most 63 characters"
// +kubebuilder:validation:XValidation:rule="!(self.metadata.name in ['control-plane', 'controlplane', 'master', 'etcd']) || !has(self.spec) || !has(self.spec.taints) || self.spec.taints.all(t, t.effect != 'NoExecute')",message="a pool of control-plane nodes may not have a NoExecute taint: it would evict the control plane"
type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state of the pool.
	// +optional
	Spec NodePoolSpec `json:"spec,omitempty"`

	// Status is what Windlass has observed. Until it has reported for the first time, the status says so.
	// +optional
	// +default={"conditions":[{"type":"Ready","status":"Unknown","reason":"NotObserved","message":"Windlass has not reported on this object yet","lastTransitionTime":"1970-01-01T00:00:00Z"}]}
	Status NodePoolStatus `json:"status,omitempty"`
}

// NodePoolSpec is the desired state of a pool.
type NodePoolSpec struct {
	// Labels are put on every member and are the node selector of the pool's RuntimeClass. What
	// happens to a label that another owner has set to a different value is decided by overwrite. Default: none. Mutable.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue())",message="every key must be a label key: an optional DNS prefix and a slash, then at most 63 letters, digits, '-', '_' or '.'"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('node-role.kubernetes.io/') && !k.startsWith('nodepool.node-restriction.kubernetes.io/') && !k.startsWith('address.node-restriction.kubernetes.io/') && !(k in ['kubernetes.io/hostname', 'kubernetes.io/os', 'kubernetes.io/arch']))",message="membership labels (node-role.kubernetes.io/, nodepool.node-restriction.kubernetes.io/, address.node-restriction.kubernetes.io/) and kubernetes.io/hostname, os and arch are not a pool's to set"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// Taints are put on every member, and the pool's RuntimeClass tolerates them. Unique by key and effect. What
	// happens to a taint of the same key and effect that another owner has set to a different value is decided by overwrite.
	// Default: none. Mutable.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=32
	Taints []Taint `json:"taints,omitempty"`

	// Annotations are put on every member, under the same rules as labels. Default: none. Mutable.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue())",message="every key must be an annotation key: an optional DNS prefix and a slash, then at most 63 letters, digits, '-', '_' or '.'"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('nodes.lailin.xyz/') && !k.startsWith('node.alpha.kubernetes.io/') && !k.startsWith('volumes.kubernetes.io/'))",message="annotations under nodes.lailin.xyz/, node.alpha.kubernetes.io/ and volumes.kubernetes.io/ are not a pool's to set"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`

	// NodeSelector selects members by their labels: nodes that match get the role label of the pool from
	// Windlass, and lose it when they no longer match. Labels that the pool itself put on a node do not count. An empty
	// selector selects nothing. Kubelets may set most labels on their own node: where that matters, select by labels under
	// node-restriction.kubernetes.io. Default: none. Mutable.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="operator must be In, NotIn, Exists or DoesNotExist",fieldPath=".matchExpressions"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && e.values.size() > 0 : !has(e.values) || e.values.size() == 0)",message="In and NotIn need values, Exists and DoesNotExist have none",fieldPath=".matchExpressions"
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`

	// NodeCIDRs makes nodes members whose InternalIP lies in one of these network segments, as in "10.20.0.0/16", in
	// addition to those that nodeSelector selects. Kubelets report the addresses of their own node, so members of such a pool carry
	// the label address.node-restriction.kubernetes.io/<pool> in place of nodepool.node-restriction.kubernetes.io/<pool>: where machines
	// are not trusted, use role labels, or select by labels under node-restriction.kubernetes.io. Default: none. Mutable.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	NodeCIDRs []CIDR `json:"nodeCIDRs,omitempty"`

	// Priority decides which of several pools of a node wins where they want one key with different values: the higher one,
	// then the older one, then the first by name. Default: 0. Mutable.
	// +optional
	Priority int32 `json:"priority,omitempty"`

	// Overwrite is what to do with a label, annotation or taint of the pool that another owner has set on a node to another
	// value. Never: leave it and report it in the condition Conflicted. Restore: replace it, and put it back when the
	// node leaves the pool. Always: replace it, and remove it when the node leaves. Default: Restore. Mutable.
	// +optional
	// +kubebuilder:default=Restore
	// +kubebuilder:validation:Enum=Never;Restore;Always
	Overwrite OverwritePolicy `json:"overwrite,omitempty"`

	// DryRun computes what the pool would do and reports it in status.dryRun. No node is touched; what the pool has put on
	// nodes before stays. Default: false. Mutable.
	// +optional
	DryRun bool `json:"dryRun,omitempty"`

	// DeletionPolicy is what happens to the nodes when the pool is deleted. Clean: they lose what the pool put on them.
	// Orphan: they keep it, except for the membership labels. Default: Clean. Mutable.
	// +optional
	// +kubebuilder:default=Clean
	// +kubebuilder:validation:Enum=Clean;Orphan
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// Rollout bounds how many nodes are changed at a time when they join or when the spec changes. Nodes that leave are not
	// counted. Default: all at once. Mutable.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`

	// Drain says what happens to the pods of the pool on a node that leaves it, and on all nodes when the pool is deleted with
	// deletionPolicy: Clean. Default: they stay where they are. Mutable.
	// +optional
	Drain *Drain `json:"drain,omitempty"`

	// AllowedNamespaces says whose pods may choose this pool. Default: those of all namespaces. Mutable; pods that exist are
	// not touched.
	// +optional
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`

	// DefaultFor gives this pool to pods that choose none. Where several pools are the default for a namespace, the one first by
	// name is given. Default: nobody. Mutable.
	// +optional
	DefaultFor *DefaultFor `json:"defaultFor,omitempty"`

	// Handler is the container runtime handler of the pool's RuntimeClass. Default: one that every member offers by its
	// node.status.runtimeHandlers: the one in force, else runc, else the first by name. Where they have none in common, the one in
	// force stays while a member offers it, or else it is runc. Mutable: a RuntimeClass cannot change its handler, so it is deleted
	// and created again; running pods are not touched.
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

// AnnotationValue is the value of an annotation.
//
// +kubebuilder:validation:MaxLength=1024
type AnnotationValue string

// MaxAnnotationValue is how many characters an AnnotationValue has at most. Each can take four bytes.
const MaxAnnotationValue = 1024

// CIDR is a network segment in CIDR notation, IPv4 or IPv6.
//
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="must be a network segment such as 10.20.0.0/16"
type CIDR string

// OverwritePolicy is what to do with what another owner has set.
type OverwritePolicy string

// Overwrite policies.
const (
	// OverwriteNever leaves it.
	OverwriteNever OverwritePolicy = "Never"
	// OverwriteRestore replaces it and puts it back when the node leaves.
	OverwriteRestore OverwritePolicy = "Restore"
	// OverwriteAlways replaces it for good.
	OverwriteAlways OverwritePolicy = "Always"
)

// DeletionPolicy is what happens to the nodes of a deleted pool.
type DeletionPolicy string

// Deletion policies.
const (
	// DeletionClean takes off what the pool put there.
	DeletionClean DeletionPolicy = "Clean"
	// DeletionOrphan leaves it.
	DeletionOrphan DeletionPolicy = "Orphan"
)

// AllowedNamespaces says whose pods may choose a pool.
//
// +kubebuilder:validation:XValidation:rule="self.from == 'Selector' ? has(self.selector) : !has(self.selector)",message="selector goes with from: Selector, and only with it"
type AllowedNamespaces struct {
	// From is All, or Selector for those that the selector selects. Default: All.
	// +optional
	// +kubebuilder:default=All
	// +kubebuilder:validation:Enum=All;Selector
	From NamespacesFrom `json:"from,omitempty"`

	// Selector selects namespaces by their labels; an empty one selects all.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="operator must be In, NotIn, Exists or DoesNotExist",fieldPath=".matchExpressions"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && e.values.size() > 0 : !has(e.values) || e.values.size() == 0)",message="In and NotIn need values, Exists and DoesNotExist have none",fieldPath=".matchExpressions"
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// NamespacesFrom says where allowed namespaces come from.
type NamespacesFrom string

// Values of NamespacesFrom.
const (
	// NamespacesFromAll allows every namespace.
	NamespacesFromAll NamespacesFrom = "All"
	// NamespacesFromSelector allows the namespaces that a selector selects.
	NamespacesFromSelector NamespacesFrom = "Selector"
)

// DefaultFor says for whom a pool is the default.
type DefaultFor struct {
	// NamespaceSelector selects namespaces by their labels. It may not be empty: a pool for really everybody would catch the
	// pods that the cluster itself needs. kube-system and the operator's own namespace are never matched. Required.
	// +required
	// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)",message="an empty selector would match every namespace: name at least one label"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="operator must be In, NotIn, Exists or DoesNotExist",fieldPath=".matchExpressions"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && e.values.size() > 0 : !has(e.values) || e.values.size() == 0)",message="In and NotIn need values, Exists and DoesNotExist have none",fieldPath=".matchExpressions"
	NamespaceSelector metav1.LabelSelector `json:"namespaceSelector"`
}

// Taint keeps pods that do not tolerate it off a node.
// +kubebuilder:validation:XValidation:rule="self.key != 'nodes.lailin.xyz/uninitialized'",message="the taint nodes.lailin.xyz/uninitialized is for kubelets to register with: Windlass only ever takes it off"
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

// NodePoolList is a list of pools.
//
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the pools.
	Items []NodePool `json:"items"`
}

// MemberLabel returns the label key that every member of the pool carries, or is about to carry.
func (p *NodePool) MemberLabel() string {
	if len(p.Spec.NodeCIDRs) > 0 {
		return AddressLabel(p.Name)
	}
	return MemberLabel(p.Name)
}

// GetConditions returns the conditions in the status.
func (p *NodePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (p *NodePool) SetConditions(conditions []metav1.Condition) { p.Status.Conditions = conditions }

// SetObservedGeneration records the generation of the spec that the status describes.
func (p *NodePool) SetObservedGeneration(generation int64) {
	p.Status.ObservedGeneration = generation
}
