// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VirtualMachine is a machine that a driver runs on a host: a container of a Docker Engine, a guest of libvirt, or a simulation.
// Windlass creates it, keeps it as the spec describes it, and removes it with the object.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=vm;vms,categories=windlass
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.phase`,description="State of the machine in one word"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the machine is in its desired state"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is, or is not"
// +kubebuilder:printcolumn:name="CPU",type=number,JSONPath=`.status.server.usage.cpu`,description="CPU usage in percent of the limit"
// +kubebuilder:printcolumn:name="Memory",type=number,JSONPath=`.status.server.usage.memory`,description="Memory usage in percent of the limit"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Driver",type=string,priority=1,JSONPath=`.status.server.driver`,description="Driver that runs the machine"
// +kubebuilder:printcolumn:name="Host",type=string,priority=1,JSONPath=`.status.server.host`,description="Host of the machine"
// +kubebuilder:printcolumn:name="Address",type=string,priority=1,JSONPath=`.status.server.addresses[0]`,description="First address of the machine"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.server) || !has(oldSelf.status.server.host) || (has(self.spec.host) && self.spec.host == oldSelf.status.server.host) || (has(self.spec.host) == has(oldSelf.spec.host) && (!has(self.spec.host) || self.spec.host == oldSelf.spec.host))",message="spec.host cannot change once the machine has a host: a machine is never moved"
type VirtualMachine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +required
	Spec VirtualMachineSpec `json:"spec"`

	// Status is what Windlass has observed. Until it has reported for the first time, the status says so.
	// +optional
	// +default={"conditions":[{"type":"Ready","status":"Unknown","reason":"NotObserved","message":"Windlass has not reported on this object yet","lastTransitionTime":"1970-01-01T00:00:00Z"}]}
	Status VirtualMachineStatus `json:"status,omitempty"`
}

// VirtualMachineSpec is the desired state of a VirtualMachine.
//
// +kubebuilder:validation:XValidation:rule="has(self.driver) == has(oldSelf.driver) && (!has(self.driver) || self.driver == oldSelf.driver)",message="driver is immutable"
// +kubebuilder:validation:XValidation:rule="!has(self.driver) || self.driver != 'docker' || !(has(self.boot) || has(self.disks) || has(self.networks) || has(self.cloudInit))",message="boot, disks, networks and cloudInit are for guests: the driver docker does not support them"
// +kubebuilder:validation:XValidation:rule="!has(self.driver) || self.driver != 'libvirt' || !(has(self.command) || has(self.args) || has(self.env) || has(self.ports))",message="command, args, env and ports are for containers: the driver libvirt does not support them"
// +kubebuilder:validation:XValidation:rule="!has(self.action) || !has(self.runStrategy) || self.runStrategy != 'Halted'",message="action active asks for a machine that runs, and runStrategy Halted for one that is off: remove action"
// +kubebuilder:validation:XValidation:rule="!has(self.action) || !has(self.runStrategy) || self.runStrategy != 'Suspended'",message="action active asks for a machine that runs, and runStrategy Suspended for one that does not: remove action"
type VirtualMachineSpec struct {
	// Resource is the size of the machine: cpu (cores, as in 2 or 500m), memory (bytes, as in 4G or 512Mi) and rootDisk (bytes; the
	// size of a guest's root disk; a container has none, and the condition RootDiskRefused says so). Required; a size that is left
	// out is not limited. Mutable: updatePolicy says what a change may do. A root disk only grows.
	// +required
	// +kubebuilder:validation:MaxProperties=3
	// +kubebuilder:validation:XValidation:rule="self.all(name, name in ['cpu', 'memory', 'rootDisk'])",message="resource accepts only cpu, memory and rootDisk"
	// +kubebuilder:validation:XValidation:rule="self.all(name, quantity(string(self[name])).isGreaterThan(quantity('0')))",message="every size must be greater than 0"
	// +kubebuilder:validation:XValidation:rule="!('cpu' in self) || quantity(string(self['cpu'])).compareTo(quantity('1024')) <= 0",message="cpu must be at most 1024"
	// +kubebuilder:validation:XValidation:rule="self.all(name, name == 'cpu' || quantity(string(self[name])).compareTo(quantity('1Pi')) <= 0)",message="memory and rootDisk must be at most 1Pi"
	Resource corev1.ResourceList `json:"resource"`

	// Driver runs the machine: docker, libvirt or simulated. Default: the manager's --vm-driver when the machine gets its host.
	// Immutable.
	// +optional
	Driver Driver `json:"driver,omitempty"`

	// Host is the name of the host that runs the machine, one of those in the manager's configuration. Default: the host with the
	// most free capacity. Immutable once the machine has a host.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Host string `json:"host,omitempty"`

	// RunStrategy says when the machine runs: Always (it is started again whenever it ends), RerunOnFailure (it is started again
	// if it ended with an error), Once (it is not started again), Halted (it is off), Suspended (it keeps its memory and uses no CPU; a
	// machine that is off is not started). Default: Always. Mutable.
	// +optional
	RunStrategy RunStrategy `json:"runStrategy,omitempty"`

	// RestartAt restarts the machine once at that time, if it is later than status.lastRestartTime. Default: never. Mutable.
	// +optional
	RestartAt *metav1.Time `json:"restartAt,omitempty"`

	// RemakeDisksBefore allows disks in status.disks that were recorded before that time, and are missing now, to be made again without
	// their data. It counts from that time until the machine exists again. Disks that exist are never touched. Default: never.
	// Mutable.
	// +optional
	RemakeDisksBefore *metav1.Time `json:"remakeDisksBefore,omitempty"`

	// PowerOff says how the machine is turned off. Mutable.
	// +optional
	PowerOff PowerOff `json:"powerOff,omitempty"`

	// Image is what the machine is created from. Default on docker: nginx:1.17.4. Mutable: see updatePolicy.
	// +optional
	Image Image `json:"image,omitempty"`

	// Command replaces the image's entry point. Containers only. Default: the image's. Mutable: see updatePolicy.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule="self.map(s, size(s)).sum() <= 65536",message="command must have at most 65536 characters in all: put a longer program into the image"
	Command []string `json:"command,omitempty"`

	// Args replaces the arguments of the image's entry point. Containers only. Default: the image's. Mutable: see updatePolicy.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule="self.map(s, size(s)).sum() <= 65536",message="args must have at most 65536 characters in all: put more into a file of the image"
	Args []string `json:"args,omitempty"`

	// Env is added to the image's environment. Do not put secrets here: everybody with access to the host can read them.
	// Containers only. Mutable: see updatePolicy.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:XValidation:rule="self.map(e, has(e.value) ? size(e.value) : 0).sum() <= 131072",message="the values of env must have at most 131072 characters in all: put more into a file of the image"
	Env []EnvVar `json:"env,omitempty"`

	// Ports are published on the host. Containers only. Mutable: see updatePolicy.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.port == b.port && (has(a.protocol) ? a.protocol : 'TCP') == (has(b.protocol) ? b.protocol : 'TCP')))",message="a port can be published only once"
	Ports []Port `json:"ports,omitempty"`

	// Boot boots a guest from a kernel instead of from its disk. Guests only. Mutable: see updatePolicy.
	// +optional
	Boot *Boot `json:"boot,omitempty"`

	// Disks are a guest's disks besides the root disk that is created from image. Guests only. Mutable: see updatePolicy.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Disks []Disk `json:"disks,omitempty"`

	// Networks are a guest's network cards. Guests only. Default: one card of type user, which connects out through the host.
	// Mutable: see updatePolicy.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Networks []Network `json:"networks,omitempty"`

	// CloudInit configures a guest when it boots for the first time. Guests only. A change has no effect on a guest that exists:
	// see updatePolicy.
	// +optional
	CloudInit *CloudInit `json:"cloudInit,omitempty"`

	// UpdatePolicy says what a change of the spec may do to a machine that exists. Live: changes that work on a running machine are
	// applied, others wait for a restart, with the condition RestartRequired. Restart: the machine is restarted if a change requires
	// it. Manual: all changes wait for a restart. If what a container is created from has changed, a restart replaces the container,
	// with an empty writable layer. A guest keeps its disks and what it was created from. Default: Live. Mutable.
	// +optional
	UpdatePolicy UpdatePolicy `json:"updatePolicy,omitempty"`

	// DeletionPolicy says what happens to the machine when this object is deleted: Delete removes it, Retain leaves it as it is, even
	// if its host cannot be reached. What was prepared for a machine that was never made is removed with both. Default: Delete.
	// Mutable.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// Action is "active" in early manifests of this kind, which asks for a machine that runs. So it is refused together with the
	// run strategies Halted and Suspended. Default: none, and runStrategy alone decides.
	// +optional
	Action Action `json:"action,omitempty"`
}

// VirtualMachineList is a list of VirtualMachines.
//
// +kubebuilder:object:root=true
type VirtualMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the VirtualMachines.
	Items []VirtualMachine `json:"items"`
}

// GetConditions returns the conditions in the status.
func (v *VirtualMachine) GetConditions() []metav1.Condition { return v.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (v *VirtualMachine) SetConditions(conditions []metav1.Condition) {
	v.Status.Conditions = conditions
}

// SetObservedGeneration records the generation of the spec that the status describes.
func (v *VirtualMachine) SetObservedGeneration(generation int64) {
	v.Status.ObservedGeneration = generation
}
