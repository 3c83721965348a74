// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterStatus is the observed state of a Cluster.
type ClusterStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// AppliedConfig is the configuration that the tool last applied, with its digest in the first line and without private keys,
	// passwords and tokens. Two of them are equal if and only if the configurations are.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	AppliedConfig string `json:"appliedConfig,omitempty"`

	// AppliedConfigHash is the digest of the configuration that was last applied. Comments and the order of keys do not count.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	AppliedConfigHash string `json:"appliedConfigHash,omitempty"`

	// AppliedAt is when that configuration was applied.
	// +optional
	AppliedAt *metav1.Time `json:"appliedAt,omitempty"`

	// ToolVersion is the version that the tool reports.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ToolVersion string `json:"toolVersion,omitempty"`

	// KubernetesVersion is the version of the cluster's API server.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`

	// Endpoint is the address of the cluster's API server.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`

	// Nodes counts the cluster's nodes and lists them.
	// +optional
	Nodes *ClusterNodes `json:"nodes,omitempty"`

	// LastOperation is the run of the tool that is under way, or the last one.
	// +optional
	LastOperation *Operation `json:"lastOperation,omitempty"`

	// NextRetryTime is when a failed run is repeated.
	// +optional
	NextRetryTime *metav1.Time `json:"nextRetryTime,omitempty"`

	// Plan is the change that is about to be applied, or waits for an approval.
	// +optional
	Plan *Plan `json:"plan,omitempty"`

	// KubeconfigRef is the Secret that holds the cluster's kubeconfig under the key "value".
	// +optional
	KubeconfigRef *corev1.SecretReference `json:"kubeconfigRef,omitempty"`

	// SkippedNodes are machines that the tool could not reach and continued without. What runs there may still run.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	SkippedNodes []string `json:"skippedNodes,omitempty"`

	// Conditions describe the state of the cluster. Ready is the summary; Reconciling and Stalled say whether Windlass is still at
	// work or cannot continue; ConfigValid, Provisioned, KubeconfigAvailable, Healthy and Degraded give the details.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ClusterNodes counts a cluster's nodes and lists them.
type ClusterNodes struct {
	// Desired is how many nodes the configuration names.
	// +optional
	// +kubebuilder:default=0
	Desired int32 `json:"desired"`

	// Ready is how many nodes of the cluster are ready.
	// +optional
	// +kubebuilder:default=0
	Ready int32 `json:"ready"`

	// Total is how many nodes and machines there are to list: the nodes of the cluster, and the machines that the configuration
	// names and that are not among them.
	// +optional
	Total int32 `json:"total,omitempty"`

	// Items are these nodes and machines, those that are not ready first, and then by name: at most 100, see total.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Items []ClusterNode `json:"items,omitempty"`
}

// Reasons of machines that the configuration names and that are not known as nodes of the cluster.
const (
	// NodeNotJoined is the reason of a machine that is not a node of the cluster.
	NodeNotJoined = "NotJoined"
	// NodeNotProbed is the reason of a machine while the nodes of the cluster are not known.
	NodeNotProbed = "NotProbed"
)

// ClusterNode is a node of the cluster as its API server tells of it, or a machine that the configuration names and that is not known as
// a node.
type ClusterNode struct {
	// Name is the name of the node. That of a machine is the one that the configuration gives it.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Address is the internal IP address of the node, or the address that the configuration has for the machine.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Address string `json:"address,omitempty"`

	// Roles are what kubectl shows as ROLES, sorted: the labels node-role.kubernetes.io/<role>. Those of a machine are from the
	// configuration.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=63
	Roles []string `json:"roles,omitempty"`

	// Ready is the status of the node's condition Ready. It is Unknown for a machine that is not known as a node.
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Ready metav1.ConditionStatus `json:"ready"`

	// Reason is the reason of the condition Ready if that is not True, or says why a machine is not known as a node: NotJoined, or
	// NotProbed while the nodes of the cluster are not known.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Reason string `json:"reason,omitempty"`

	// Unschedulable is true if the node is cordoned.
	// +optional
	Unschedulable bool `json:"unschedulable,omitempty"`

	// Version is the version of the node's kubelet.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// Since is when the condition Ready last changed its status.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}

// Action is what a run of a tool is for.
//
// +kubebuilder:validation:Enum=Up;Remove
type Action string

// The actions.
const (
	ActionUp     Action = "Up"
	ActionRemove Action = "Remove"
)

// Operation is one run of a tool.
type Operation struct {
	// ID identifies this run among all runs of the cluster. The end of its log is in the ConfigMap <name of the cluster>-log in the
	// namespace that Windlass runs in.
	// +required
	// +kubebuilder:validation:MaxLength=63
	ID string `json:"id"`

	// Action is what the run is for.
	// +required
	Action Action `json:"action"`

	// Stage is what the tool reports that it is doing, or did last.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Stage string `json:"stage,omitempty"`

	// StartTime is when the run started.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// EndTime is when the run ended. Absent while it is under way.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`

	// Attempt counts the runs for one configuration, from 1.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`

	// ConfigHash is the digest of the configuration that the run applies.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	ConfigHash string `json:"configHash,omitempty"`

	// ExitCode is the exit code of the tool. Absent while it runs, and if a signal killed it.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// Reason is the kind of failure; empty if the run succeeded or is under way.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message says how a run failed, in the tool's words.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// Plan is what a change of the configuration will do.
type Plan struct {
	// ID is what an approval names. It changes with the configuration.
	// +required
	// +kubebuilder:validation:MaxLength=63
	ID string `json:"id"`

	// Summary says what changes: nodes, roles, the version, services.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Summary string `json:"summary,omitempty"`

	// Destructive is true if something may be lost: a node is removed, a network changes, or a version goes back.
	// +optional
	Destructive bool `json:"destructive,omitempty"`
}

// GetConditions returns the conditions in the status.
func (c *Cluster) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (c *Cluster) SetConditions(conditions []metav1.Condition) { c.Status.Conditions = conditions }

// SetObservedGeneration records the generation of the spec that the status describes.
func (c *Cluster) SetObservedGeneration(generation int64) { c.Status.ObservedGeneration = generation }
