// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

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

	// ConflictedNodeCount is the number of members on which another pool or another owner holds a key of this pool.
	// +optional
	// +kubebuilder:default=0
	ConflictedNodeCount int32 `json:"conflictedNodeCount"`

	// SharedNodeCount is the number of members that are members of another pool as well. Sums over pools count them twice.
	// +optional
	// +kubebuilder:default=0
	SharedNodeCount int32 `json:"sharedNodeCount"`

	// PodsToEvict is the number of running pods that new NoExecute taints of the pool delete. It is counted before the taints
	// are put on nodes, and 0 once they are there.
	// +optional
	// +kubebuilder:default=0
	PodsToEvict int32 `json:"podsToEvict"`

	// Capacity is the sum of the capacities of all members.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// Allocatable is the sum of what pods may request on all members.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`

	// Handler is the handler of the pool's RuntimeClass that is in force.
	// +optional
	Handler string `json:"handler,omitempty"`

	// MemberLabel is the label by which the pool's RuntimeClass selects members. Where nodeCIDRs gives members another label, it
	// follows once all of them carry that one; until then, members keep the label that is named here.
	// +optional
	MemberLabel string `json:"memberLabel,omitempty"`

	// Ledger holds every key that Windlass may have put on a node for this pool. It is written before the first node is,
	// and a key is only ever taken off a node when both the ledger and the node's own record name it.
	// +optional
	Ledger Ledger `json:"ledger,omitempty"`

	// NeighborTaints are the taints, as "key=value:effect" and sorted, that other pools have or are about to have on nodes that
	// they share with this one. Pods of this pool tolerate them as well, or they could run on no shared node.
	// +optional
	// +listType=set
	NeighborTaints []string `json:"neighborTaints,omitempty"`

	// Originals holds what the pool has replaced on nodes under overwrite: Restore, so that it can be put back. It is kept
	// here and not on the nodes, because a kubelet may write its own node's annotations.
	// +optional
	// +listType=map
	// +listMapKey=uid
	// +kubebuilder:validation:MaxItems=1000
	Originals []Original `json:"originals,omitempty"`

	// Rollout is the progress of the rollout, while spec.rollout is set and nodes have to be changed.
	// +optional
	Rollout *RolloutStatus `json:"rollout,omitempty"`

	// Draining are the nodes, sorted by name, that left the pool and whose pods are being evicted under spec.drain.
	// +optional
	// +listType=map
	// +listMapKey=uid
	// +kubebuilder:validation:MaxItems=100
	Draining []DrainingNode `json:"draining,omitempty"`

	// DryRun is what the pool would do to its nodes, while spec.dryRun is set.
	// +optional
	DryRun *DryRunReport `json:"dryRun,omitempty"`

	// Conditions are the state of the pool: Ready is the summary, Reconciling and Stalled say whether Windlass is still
	// at work or cannot go on, and NodesSynced, RuntimeClassReady, HandlerAvailable, AdmissionReady, Conflicted, SafetyBrake,
	// RolledOut, Drained and Paused are its parts. RolledOut is there with spec.rollout only, and Drained with spec.drain.
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

	// Annotations are annotation keys, sorted.
	// +optional
	// +listType=set
	Annotations []string `json:"annotations,omitempty"`

	// Taints are taints as "key=value:effect", sorted.
	// +optional
	// +listType=set
	Taints []string `json:"taints,omitempty"`
}

// MaxOriginals is how many nodes status.originals holds at most. On further nodes, the pool leaves what others have set.
const MaxOriginals = 1000

// Original is what a node had before a pool replaced it.
type Original struct {
	// Node is the node's name.
	// +required
	Node string `json:"node"`

	// UID is the node's UID: a node created anew under the same name starts afresh.
	// +required
	UID types.UID `json:"uid"`

	// Labels are the replaced labels.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations are the replaced annotations.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Taints are the values of the replaced taints by "key:effect".
	// +optional
	Taints map[string]string `json:"taints,omitempty"`
}

// DryRunReport is what a pool would do to its nodes. Lists are sorted and hold at most 64 entries.
type DryRunReport struct {
	// AffectedNodes is the number of nodes that would change.
	// +optional
	AffectedNodes int32 `json:"affectedNodes"`

	// LabelsToSet are the labels that some node would get or have changed, as "key=value".
	// +optional
	// +listType=atomic
	LabelsToSet []string `json:"labelsToSet,omitempty"`

	// LabelsToRemove are the keys of labels that some node would lose.
	// +optional
	// +listType=atomic
	LabelsToRemove []string `json:"labelsToRemove,omitempty"`

	// TaintsToAdd are the taints that some node would get or have changed, as "key=value:effect".
	// +optional
	// +listType=atomic
	TaintsToAdd []string `json:"taintsToAdd,omitempty"`

	// TaintsToRemove are the taints that some node would lose, as "key=value:effect".
	// +optional
	// +listType=atomic
	TaintsToRemove []string `json:"taintsToRemove,omitempty"`

	// PodsToEvict is the number of running pods that new NoExecute taints would delete.
	// +optional
	PodsToEvict int32 `json:"podsToEvict"`
}
