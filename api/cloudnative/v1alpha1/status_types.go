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

	// Phase is the state of the machine in one word: Pending, Creating, Active, Suspended, Stopped, CrashLoopBackOff, ImagePullBackOff,
	// Failed, Terminating or Unknown. It is for people; scripts should wait for conditions.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Phase Phase `json:"phase,omitempty"`

	// Reason is the last error in the words of the host. It is cleared on success.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`

	// Server is the machine as its host reports it.
	// +optional
	Server *Server `json:"server,omitempty"`

	// Disks were made for the machine and may hold data. A disk that is listed here is never made again while it is missing, unless
	// spec.remakeDisksBefore allows it.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Disks []MadeDisk `json:"disks,omitempty"`

	// LastUpdateTime is when Windlass last changed this status, except for the usage.
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`

	// RestartCount is how many times the machine was started again, for any reason.
	// +optional
	RestartCount int32 `json:"restartCount,omitempty"`

	// LastRestartTime is the last spec.restartAt that was carried out.
	// +optional
	LastRestartTime *metav1.Time `json:"lastRestartTime,omitempty"`

	// StartFailure counts the failures since the last success, and says when the next attempt is due. Absent if there are none.
	// +optional
	StartFailure *StartFailure `json:"startFailure,omitempty"`

	// Conditions describe the state of the machine. Ready is the summary; Reconciling and Stalled say whether Windlass is still
	// working or cannot continue. DriverReady, ImageReady, Provisioned, PowerSynced and ResourcesSynced are the steps to Ready.
	// RestartRequired says that a change waits for a restart, SoftwareEmulation that the guest's processor is emulated,
	// RootDiskRefused that the machine has no root disk of the size that the spec asks for.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MadeDisk is a disk that was made for a machine.
type MadeDisk struct {
	// Name of the disk: root for the one that is made from the image, disk-NAME for one of spec.disks.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// RecordedAt is when Windlass saw the machine with this disk first, or again after spec.remakeDisksBefore.
	RecordedAt metav1.Time `json:"recordedAt"`
}

// Server is a machine as its host reports it.
type Server struct {
	// ID identifies the machine on its host: the ID of a container or a domain.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ID string `json:"id,omitempty"`

	// UID is that under which the host knows the machine. Absent: that of the VirtualMachine, which is another one after the VirtualMachine
	// was restored from a backup.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	UID string `json:"uid,omitempty"`

	// Name is the machine's name on its host.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`

	// Driver runs the machine.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Driver Driver `json:"driver,omitempty"`

	// Host of the machine. It is recorded before anything is created there.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host,omitempty"`

	// Tentative is true while nothing was created on the host. If the host does not answer, the machine then moves to another one
	// that can take it, unless spec.host names the host.
	// +optional
	Tentative bool `json:"tentative,omitempty"`

	// State of the machine as its driver reports it: created, running, paused, stopping, stopped or unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	State string `json:"state,omitempty"`

	// Suspended is true while Windlass keeps the machine suspended, and from right before. So Windlass resumes it when spec.runStrategy
	// no longer asks for that, and leaves a machine that somebody else has suspended as it is.
	// +optional
	Suspended bool `json:"suspended,omitempty"`

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

	// ExitCode of the last run. Absent while the machine runs, and if the driver reports none.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// Usage of the machine. It is updated when it has changed by ten points or is some minutes old; metrics are always fresh.
	// +optional
	Usage *Usage `json:"usage,omitempty"`
}

// Usage is the CPU and memory usage of a machine.
type Usage struct {
	// CPU is the CPU usage in percent of the limit.
	// +optional
	CPU Percent `json:"cpu"`

	// Memory is the working set in percent of the limit.
	// +optional
	Memory Percent `json:"memory"`

	// CPUCores is the CPU usage in cores.
	// +optional
	CPUCores Percent `json:"cpuCores"`

	// MemoryBytes is the working set in bytes.
	// +optional
	MemoryBytes int64 `json:"memoryBytes"`

	// SampledAt is when the counters were read.
	// +optional
	SampledAt *metav1.Time `json:"sampledAt,omitempty"`
}

// Percent is a number with a fraction. It is a type of its own so that it is always encoded alike.
//
// +kubebuilder:validation:Type=number
type Percent float64

// MarshalJSON writes the shortest decimal number with the same value.
func (p Percent) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(p), 'f', -1, 64), nil
}

// StartFailure counts the failures since the last success.
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
