// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodBuggerTool adds a debugging tool to the matching pods of its namespace: each running pod gets an ephemeral container with
// the image of the tool, including pods that start later. Kubernetes cannot remove an ephemeral container from a pod: it stays
// in the pod, running or not, even when the PodBuggerTool is deleted.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=pbt,categories=windlass
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=.spec.image
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,description="Image of the tool"
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.matched`,description="Pods that match"
// +kubebuilder:printcolumn:name="Installed",type=integer,JSONPath=`.status.installed`,description="Pods that have the tool"
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.failed`,description="Pods that refuse the tool, or cannot run it"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether every pod that should have the tool has it"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why they have it, or have not"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PodBuggerTool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +required
	Spec PodBuggerToolSpec `json:"spec"`

	// Status is what Windlass has observed. Until it has reported for the first time, the status says so.
	// +optional
	// +default={"conditions":[{"type":"Ready","status":"Unknown","reason":"NotObserved","message":"Windlass has not reported on this object yet","lastTransitionTime":"1970-01-01T00:00:00Z"}]}
	Status PodBuggerToolStatus `json:"status,omitempty"`
}

// PodBuggerToolSpec is the desired state of a PodBuggerTool. What describes the container (image, command, targetContainer,
// securityContext) is part of the name of the container in the pods: a change adds another container and leaves the earlier
// one as it is.
//
// +kubebuilder:validation:XValidation:rule="has(self.label) != has(self.selector)",message="give exactly one of label and selector"
type PodBuggerToolSpec struct {
	// Label selects pods by one label, as in app=web. Exactly one of label and selector. Mutable.
	// +optional
	// +kubebuilder:validation:MaxLength=381
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?=([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`
	Label string `json:"label,omitempty"`

	// Selector selects pods by their labels. An empty selector would select every pod and is rejected. Exactly one of label
	// and selector. Mutable.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0)",message="an empty selector would select every pod of the namespace: name at least one label"
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// Image of the tool, as in a Pod; a node pulls it if it does not have it. Required. Mutable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image"`

	// Command that the container runs instead of the image's entry point. It has stdin and a terminal, for "kubectl attach
	// -it". Default: ["sh"]. Mutable.
	// +optional
	// +kubebuilder:default={sh}
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Command []string `json:"command,omitempty"`

	// TargetContainer is the name of a container of the pods whose processes the tool sees. Default: none; the tool sees only its
	// own processes, unless the pod shares them. Mutable.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	TargetContainer string `json:"targetContainer,omitempty"`

	// SecurityContext of the container, as in a Pod. Pod Security admission applies as for the other containers of the pod.
	// Default: that of the pod. Mutable.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`

	// MaxPods limits how many pods get the tool. The oldest running pods get it first. Pods that have the tool count. Default: 50. Mutable.
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=500
	MaxPods int32 `json:"maxPods,omitempty"`
}

// PodBuggerToolStatus is the observed state of a PodBuggerTool.
type PodBuggerToolStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Matched is the number of matching pods that are neither terminating nor completed.
	// +optional
	// +kubebuilder:default=0
	Matched int32 `json:"matched"`

	// Installed is the number of these pods that have the tool and did not fail to run it.
	// +optional
	// +kubebuilder:default=0
	Installed int32 `json:"installed"`

	// Failed is the number of these pods that reject the tool, or have it and cannot run it.
	// +optional
	// +kubebuilder:default=0
	Failed int32 `json:"failed"`

	// Pods lists at most 50 pods, sorted by name. If there are more, pods with a problem take precedence.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Pods []PodTool `json:"pods,omitempty"`

	// Conditions describe the state of the tool: Ready is the summary, Reconciling and Stalled say whether Windlass is still
	// working or cannot continue; Installed says whether the pods have the tool, Limited whether maxPods excludes some.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ToolState says how far a pod is with a tool.
//
// +kubebuilder:validation:Enum=Waiting;Starting;Running;Ended;Failed;Refused;LeftOut
type ToolState string

// The states of a tool in a pod.
const (
	// ToolWaiting: the pod does not run yet; it gets the tool when it runs.
	ToolWaiting ToolState = "Waiting"
	// ToolStarting: the pod has the container, but its node has not reported that it runs.
	ToolStarting ToolState = "Starting"
	// ToolRunning: the container runs.
	ToolRunning ToolState = "Running"
	// ToolEnded: the container ran and ended, with any exit code. It does not start again.
	ToolEnded ToolState = "Ended"
	// ToolFailed: the pod has the container, but its node cannot run it.
	ToolFailed ToolState = "Failed"
	// ToolRefused: the API server rejected the container.
	ToolRefused ToolState = "Refused"
	// ToolLeftOut: maxPods excludes the pod.
	ToolLeftOut ToolState = "LeftOut"
)

// PodTool is the state of the tool in one pod.
type PodTool struct {
	// Name of the pod.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Container is the name of the ephemeral container, for "kubectl attach -c". Empty until the pod has it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container,omitempty"`

	// State says how far the pod is.
	// +required
	State ToolState `json:"state"`

	// Message says why. It quotes the API server or the node.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// PodBuggerToolList is a list of PodBuggerTools.
//
// +kubebuilder:object:root=true
type PodBuggerToolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the PodBuggerTools.
	Items []PodBuggerTool `json:"items"`
}

// GetConditions returns the conditions in the status.
func (p *PodBuggerTool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (p *PodBuggerTool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// SetObservedGeneration records the generation of the spec that the status describes.
func (p *PodBuggerTool) SetObservedGeneration(generation int64) {
	p.Status.ObservedGeneration = generation
}
