// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VirtualMachineStatus is the observed state of a VirtualMachine.
type VirtualMachineStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Phase says in one word how the machine is: Pending, Creating, Active, Stopped, CrashLoopBackOff, ImagePullBackOff, Failed,
	// Terminating or Unknown. Scripts wait for conditions; the phase is for people.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Phase Phase `json:"phase,omitempty"`

	// Reason is what went wrong last, in the words of the host. It is cleared on success.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`

	// Server is the machine as its host shows it.
	// +optional
	Server *Server `json:"server,omitempty"`

	// LastUpdateTime is when Windlass last changed this status, usage aside.
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`

	// RestartCount is how many times the machine has been started again, for whatever reason.
	// +optional
	RestartCount int32 `json:"restartCount,omitempty"`

	// LastRestartTime is the latest spec.restartAt that has been served.
	// +optional
	LastRestartTime *metav1.Time `json:"lastRestartTime,omitempty"`

	// StartFailure counts what went wrong without a success since, and says when the next attempt is due. Absent when all is well.
	// +optional
	StartFailure *StartFailure `json:"startFailure,omitempty"`

	// Conditions tell the state of the machine: Ready is the summary, Reconciling and Stalled say whether Windlass is still at
	// work or cannot go on; DriverReady, ImageReady, Provisioned, PowerSynced and ResourcesSynced are the steps to it;
	// RestartRequired says that a change waits for a restart, SoftwareEmulation that the guest's processor is emulated.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Server is a machine as its host shows it.
type Server struct {
	// ID is what the host calls the machine: the id of a container or of a domain.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ID string `json:"id,omitempty"`

	// Name is the machine's name on its host.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`

	// Driver is what runs the machine.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Driver Driver `json:"driver,omitempty"`

	// Host is where the machine is. It never changes.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host,omitempty"`

	// State is what the machine does, in the words of its driver: created, running, paused, stopping, stopped or unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	State string `json:"state,omitempty"`

	// StartedAt is when the machine was last started.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// Addresses of the machine, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	Addresses []string `json:"addresses,omitempty"`

	// Ports that are published on the host.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Ports []Port `json:"ports,omitempty"`

	// ExitCode of the last run, absent while the machine runs and where it has none.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// Usage is what the machine used when it was last written here. It is written when it has changed much or is some minutes
	// old; metrics are always fresh.
	// +optional
	Usage *Usage `json:"usage,omitempty"`
}

// Usage is what a machine uses.
type Usage struct {
	// CPU is the processor time in percent of what the machine has.
	// +optional
	CPU Percent `json:"cpu"`

	// Memory is the working set in percent of what the machine has.
	// +optional
	Memory Percent `json:"memory"`

	// CPUCores is the processor time in cores.
	// +optional
	CPUCores Percent `json:"cpuCores"`

	// MemoryBytes is the working set.
	// +optional
	MemoryBytes int64 `json:"memoryBytes"`

	// SampledAt is when the counters were read.
	// +optional
	SampledAt *metav1.Time `json:"sampledAt,omitempty"`
}

// Percent is a number with a fraction. It has a type of its own because its text has to be the same on every way through the API.
//
// +kubebuilder:validation:Type=number
type Percent float64

// MarshalJSON writes the shortest decimal number that is the same.
func (p Percent) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(p), 'f', -1, 64), nil
}

// StartFailure counts failures without a success since.
type StartFailure struct {
	// Count of failures.
	// +optional
	Count int32 `json:"count"`

	// RetryAfter is when the next attempt is due.
	// +optional
	RetryAfter *metav1.Time `json:"retryAfter,omitempty"`

	// Reason of the last failure, one of those of the conditions.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reason string `json:"reason,omitempty"`
}
