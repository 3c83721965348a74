// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// MaxRolloutNodes is how many nodes status.rollout names at most, and so how many are changed at a time under spec.rollout.
const MaxRolloutNodes = 500

// Rollout bounds how many nodes get or change what the pool puts on them at a time.
type Rollout struct {
	// MaxConcurrent is how many members are changed in one batch: a number, or a percentage of the members as in "10%", rounded up,
	// and 500 at most. The next batch begins when all of these are done. Required. Mutable.
	// +required
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? int(self) >= 1 : string(self).matches('^([1-9]|[1-9][0-9]|100)%$')",message="maxConcurrent is a number of 1 or more, or a percentage from 1% to 100%"
	MaxConcurrent intstr.IntOrString `json:"maxConcurrent"`

	// PauseSeconds is the minimum time from the start of one batch to the start of the next, in seconds. Default: 0. Mutable.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	PauseSeconds int32 `json:"pauseSeconds,omitempty"`

	// MaxUnavailable stops the rollout while more members than this are not Ready: a number, or a percentage of the members as in
	// "5%", rounded down. Default: readiness does not matter. Mutable.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? int(self) >= 0 : string(self).matches('^([0-9]|[1-9][0-9]|100)%$')",message="maxUnavailable is a number of 0 or more, or a percentage from 0% to 100%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// RolloutStatus is the progress of a rollout that spec.rollout bounds.
type RolloutStatus struct {
	// WaitingNodeCount is the number of members that have to be changed in later batches.
	// +optional
	// +kubebuilder:default=0
	WaitingNodeCount int32 `json:"waitingNodeCount"`

	// Nodes are the names, sorted, of the nodes in the present batch.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	Nodes []string `json:"nodes,omitempty"`

	// TurnTime is when the batch began.
	// +optional
	TurnTime *metav1.Time `json:"turnTime,omitempty"`
}

// DefaultDrainTimeoutSeconds is how long a node is drained at most where the pool does not say.
const DefaultDrainTimeoutSeconds = 600

// Drain says what happens to the pods of the pool on a node that leaves it.
type Drain struct {
	// Policy is None: they stay where they are, or Evict: those that chose the pool by RuntimeClass, or by pod label when they
	// were created, are evicted before the node loses the pool's labels and taints. The Eviction API is asked, so that disruption budgets are kept;
	// pods of DaemonSets and mirror pods stay. Default: None. Mutable.
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;Evict
	Policy DrainPolicy `json:"policy,omitempty"`

	// TimeoutSeconds is how long a node is drained at most, in seconds. What is still running after that stays where it is, and the
	// node leaves. 0 waits for ever. Default: 600. Mutable.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`
}

// DrainPolicy is what happens to the pods of the pool on a node that leaves it.
type DrainPolicy string

// Drain policies.
const (
	// DrainNone leaves them.
	DrainNone DrainPolicy = "None"
	// DrainEvict evicts those that chose the pool.
	DrainEvict DrainPolicy = "Evict"
)

// MaxDraining is how many nodes of a pool are drained at a time. Further ones wait, and keep what they carry.
const MaxDraining = 100

// DrainingNode is a node that left a pool and whose pods are being evicted.
type DrainingNode struct {
	// Node is the node's name.
	// +required
	Node string `json:"node"`

	// UID is the node's UID: a node created anew under the same name has nothing to be drained of.
	// +required
	UID types.UID `json:"uid"`

	// StartTime is when the drain began.
	// +required
	StartTime metav1.Time `json:"startTime"`

	// PodsLeft is the number of pods that have not ended yet.
	// +optional
	// +kubebuilder:default=0
	PodsLeft int32 `json:"podsLeft"`

	// Blocked are up to 10 pods, as "namespace/name" and sorted, whose eviction was refused the last time, mostly by a disruption
	// budget.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	Blocked []string `json:"blocked,omitempty"`

	// Refusal is what the API server answered to the eviction of the first of them.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Refusal string `json:"refusal,omitempty"`

	// Drained is true once no pod is left or the time is over: the node may lose the pool's labels and taints.
	// +optional
	Drained bool `json:"drained,omitempty"`
}
