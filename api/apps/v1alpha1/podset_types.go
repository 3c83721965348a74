// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// PodSet is a number of identical pods. Windlass runs them through a Deployment of the same name, which the PodSet owns, and
// reverts what others change there. "kubectl scale" and horizontal pod autoscalers work on the PodSet itself.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,categories=windlass
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.size`,description="Pods wanted"
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`,description="Pods that have been ready for minReadySeconds"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether all pods run the current template and are available"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why they are, or are not"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,priority=1,JSONPath=`.status.updatedReplicas`,description="Pods of the current template"
// +kubebuilder:printcolumn:name="Pool",type=string,priority=1,JSONPath=`.spec.nodePool`,description="The NodePool that the pods run on"
// +kubebuilder:printcolumn:name="Selector",type=string,priority=1,JSONPath=`.status.selector`,description="Label selector of the pods"
type PodSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +required
	Spec PodSetSpec `json:"spec"`

	// Status is what Windlass has observed. Until it has reported for the first time, the status says so.
	// +optional
	// +default={"nodes":[],"conditions":[{"type":"Ready","status":"Unknown","reason":"NotObserved","message":"Windlass has not reported on this object yet","lastTransitionTime":"1970-01-01T00:00:00Z"}]}
	Status PodSetStatus `json:"status,omitempty"`
}

// PodSetSpec is the desired state of a PodSet.
//
// +kubebuilder:validation:XValidation:rule="!has(self.nodePool) || size(self.nodePool) == 0 || !has(self.template) || !has(self.template.spec) || !has(self.template.spec.runtimeClassName)",message="nodePool sets the pods' runtimeClassName: give either nodePool or template.spec.runtimeClassName"
type PodSetSpec struct {
	// Size is the number of pods, 0 or more. Required. Mutable, also through the scale subresource.
	// +required
	// +kubebuilder:validation:Minimum=0
	Size int32 `json:"size"`

	// Template describes the pods. Default: one container "podset" with the image busybox, the command "sleep 3600" and
	// the port 1234 named podset. Mutable: a change replaces the pods according to strategy. Windlass sets the labels app
	// and podSet_cr.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.metadata) || !has(self.metadata.labels) || !('app' in self.metadata.labels || 'podSet_cr' in self.metadata.labels)",message="the pod labels app and podSet_cr are set by Windlass"
	// +kubebuilder:validation:XValidation:rule="!has(self.spec) || size(self.spec.containers) > 0",message="template.spec.containers needs at least one container"
	Template *corev1.PodTemplateSpec `json:"template,omitempty"`

	// NodePool is the name of the NodePool that the pods run on: it becomes their runtimeClassName. Default: none, the
	// scheduler chooses among all nodes that admit the pods. Mutable.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	NodePool string `json:"nodePool,omitempty"`

	// Strategy is how pods are replaced when the template changes, as in a Deployment. Default: RollingUpdate with
	// maxSurge and maxUnavailable of 25%. Mutable.
	// +optional
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`

	// MinReadySeconds is how long a new pod has to be ready before it counts as available, in seconds. Default: 0. Mutable.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`

	// ProgressDeadlineSeconds is how long a rollout may go without progress before it counts as failed, in seconds.
	// More than minReadySeconds. Default: 600. Mutable.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// RevisionHistoryLimit is how many old ReplicaSets are kept for a rollback. Default: 10. Mutable.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// Paused holds back the rollout of a changed template, as in a Deployment; the number of pods still follows size. A PodSet that is
	// created paused has no pods until it is resumed. The annotation windlass.io/paused stops Windlass altogether. Default: false. Mutable.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// MinAvailable is the number, or the percentage as in "50%", of pods that must stay available during
	// voluntary disruptions such as a drain: Windlass keeps a PodDisruptionBudget with the name of the PodSet. Default: no budget. Mutable.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? int(self) >= 0 : string(self).matches('^([0-9]|[1-9][0-9]|100)%$')",message="minAvailable is a number of 0 or more, or a percentage from 0% to 100%"
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`
}

// PodSetStatus is the observed state of a PodSet.
type PodSetStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Nodes holds the names of the pods, sorted, without those that are being deleted: at most 500, see nodesTruncated.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	Nodes []string `json:"nodes"`

	// NodesTruncated is true when there are more pods than nodes can hold.
	// +optional
	NodesTruncated bool `json:"nodesTruncated,omitempty"`

	// Replicas is the number of pods, including those of older templates.
	// +optional
	// +kubebuilder:default=0
	Replicas int32 `json:"replicas"`

	// ReadyReplicas is the number of pods that are ready.
	// +optional
	// +kubebuilder:default=0
	ReadyReplicas int32 `json:"readyReplicas"`

	// AvailableReplicas is the number of pods that have been ready for minReadySeconds.
	// +optional
	// +kubebuilder:default=0
	AvailableReplicas int32 `json:"availableReplicas"`

	// UpdatedReplicas is the number of pods of the current template.
	// +optional
	// +kubebuilder:default=0
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// Selector is the label selector of the pods in the form that the scale subresource uses.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Placement counts the pods per NodePool of the node they run on. A pod on a node of two pools counts for both; a pod
	// on a node without a pool counts under the empty name. Pods without a node do not count.
	// +optional
	// +listType=map
	// +listMapKey=nodePool
	// +kubebuilder:validation:MaxItems=64
	Placement []PodPlacement `json:"placement,omitempty"`

	// Conditions describe the state of the PodSet: Ready is the summary, Reconciling and Stalled say whether Windlass is
	// still working or cannot continue; Available, Progressing and ReplicaFailure are those of the Deployment, ChildConflict names
	// an object in the way.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PodPlacement is the number of pods on the nodes of one pool.
type PodPlacement struct {
	// NodePool is the name of the pool, empty for nodes of no pool.
	// +required
	NodePool string `json:"nodePool"`

	// Pods is the number of pods.
	// +required
	Pods int32 `json:"pods"`
}

// PodSetList is a list of PodSets.
//
// +kubebuilder:object:root=true
type PodSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the PodSets.
	Items []PodSet `json:"items"`
}

// GetConditions returns the conditions in the status.
func (p *PodSet) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (p *PodSet) SetConditions(conditions []metav1.Condition) { p.Status.Conditions = conditions }

// SetObservedGeneration records the generation of the spec that the status describes.
func (p *PodSet) SetObservedGeneration(generation int64) {
	p.Status.ObservedGeneration = generation
}
