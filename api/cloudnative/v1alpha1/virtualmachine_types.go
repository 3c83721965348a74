// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VirtualMachine is a machine that a driver runs on a host: a container of a Docker Engine, a guest of libvirt, or a simulation.
// Windlass makes it, keeps it as the spec says, and removes it with the object.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=vm;vms,categories=windlass
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.phase`,description="How the machine is, in one word"
// +kubebuilder:printcolumn:name="CPU",type=number,JSONPath=`.status.server.usage.cpu`,description="Processor used, in percent of what the machine has"
// +kubebuilder:printcolumn:name="Memory",type=number,JSONPath=`.status.server.usage.memory`,description="Memory used, in percent of what the machine has"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Driver",type=string,priority=1,JSONPath=`.status.server.driver`,description="What runs the machine"
// +kubebuilder:printcolumn:name="Host",type=string,priority=1,JSONPath=`.status.server.host`,description="Where the machine is"
// +kubebuilder:printcolumn:name="Address",type=string,priority=1,JSONPath=`.status.server.addresses[0]`,description="The machine's first address"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.server) || !has(oldSelf.status.server.host) || (has(self.spec.host) && self.spec.host == oldSelf.status.server.host) || (!has(self.spec.host) && !has(oldSelf.spec.host))",message="the machine has a host and stays there: spec.host cannot change any more"
type VirtualMachine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +required
	Spec VirtualMachineSpec `json:"spec"`

	// Status is what Windlass has observed.
	// +optional
	Status VirtualMachineStatus `json:"status,omitempty"`
}

// VirtualMachineSpec is the desired state of a VirtualMachine.
//
// +kubebuilder:validation:XValidation:rule="has(self.driver) == has(oldSelf.driver) && (!has(self.driver) || self.driver == oldSelf.driver)",message="driver is immutable"
// +kubebuilder:validation:XValidation:rule="!has(self.driver) || self.driver != 'docker' || !(has(self.boot) || has(self.disks) || has(self.networks) || has(self.cloudInit))",message="boot, disks, networks and cloudInit are for guests: the driver docker has none"
// +kubebuilder:validation:XValidation:rule="!has(self.driver) || self.driver != 'libvirt' || !(has(self.command) || has(self.args) || has(self.env) || has(self.ports))",message="command, args, env and ports are for containers: the driver libvirt has none"
type VirtualMachineSpec struct {
	// Resource is the size of the machine: cpu (processors, to the thousandth: 2, 500m), memory (bytes: 4G, 512Mi) and rootDisk (bytes;
	// the size of a guest's root disk, without effect on a container). Required; a size that is left out is not limited.
	// Mutable: updatePolicy says what a change may do. A rootDisk is not changed once the machine exists.
	// +required
	// +kubebuilder:validation:MaxProperties=3
	// +kubebuilder:validation:XValidation:rule="self.all(name, name in ['cpu', 'memory', 'rootDisk'])",message="a machine has cpu, memory and rootDisk, and nothing else"
	// +kubebuilder:validation:XValidation:rule="self.all(name, quantity(string(self[name])).isGreaterThan(quantity('0')))",message="every size is more than 0"
	// +kubebuilder:validation:XValidation:rule="!('cpu' in self) || quantity(string(self['cpu'])).compareTo(quantity('1024')) <= 0",message="cpu is at most 1024"
	// +kubebuilder:validation:XValidation:rule="self.all(name, name == 'cpu' || quantity(string(self[name])).compareTo(quantity('1Pi')) <= 0)",message="memory and rootDisk are at most 1Pi"
	Resource corev1.ResourceList `json:"resource"`

	// Driver is what runs the machine: docker, libvirt or simulated. Default: the manager's --vm-driver at the time when the
	// machine is placed. Immutable.
	// +optional
	Driver Driver `json:"driver,omitempty"`

	// Host is the name of the host that runs the machine, of those that the manager is configured with. Default: the one with
	// the most free capacity. Immutable once the machine has a host.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Host string `json:"host,omitempty"`

	// RunStrategy says when the machine runs: Always (it is started again whenever it ends), RerunOnFailure (only when it ended
	// with an error), Once (never again), Halted (it is off). Default: Always. Mutable.
	// +optional
	RunStrategy RunStrategy `json:"runStrategy,omitempty"`

	// RestartAt restarts the machine once when that time has come, and it is later than status.lastRestartTime. Default: never.
	// Mutable.
	// +optional
	RestartAt *metav1.Time `json:"restartAt,omitempty"`

	// PowerOff says how the machine is turned off. Mutable.
	// +optional
	PowerOff PowerOff `json:"powerOff,omitempty"`

	// Image is what the machine is made from. Default on docker: nginx:1.17.4. Mutable: see updatePolicy.
	// +optional
	Image Image `json:"image,omitempty"`

	// Command replaces the image's entry point. Containers only. Default: the image's. Mutable: see updatePolicy.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Command []string `json:"command,omitempty"`

	// Args replaces the arguments of the image's entry point. Containers only. Default: the image's. Mutable: see updatePolicy.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Args []string `json:"args,omitempty"`

	// Env is added to the image's environment. Whoever may look at the host can read it: it is no place for secrets.
	// Containers only. Mutable: see updatePolicy.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Env []EnvVar `json:"env,omitempty"`

	// Ports are published on the host. Containers only. Mutable: see updatePolicy.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.port == b.port && (has(a.protocol) ? a.protocol : 'TCP') == (has(b.protocol) ? b.protocol : 'TCP')))",message="a port is published once"
	Ports []Port `json:"ports,omitempty"`

	// Boot boots a guest from a kernel instead of from its disk. Guests only. Mutable: see updatePolicy.
	// +optional
	Boot *Boot `json:"boot,omitempty"`

	// Disks are a guest's disks besides the root disk that is made from image. Guests only. Mutable: see updatePolicy.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Disks []Disk `json:"disks,omitempty"`

	// Networks are a guest's network cards. Guests only. Default: one card that reaches out through the host, of type user.
	// Mutable: see updatePolicy.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Networks []Network `json:"networks,omitempty"`

	// CloudInit configures a guest when it boots for the first time. Guests only. A later change has no effect on a guest that
	// exists: see updatePolicy.
	// +optional
	CloudInit *CloudInit `json:"cloudInit,omitempty"`

	// UpdatePolicy says what a change of a machine that exists may do. Live: what can be done while it runs is done; the rest
	// waits for a restart, with the condition RestartRequired. Restart: the machine is restarted for it. Manual: nothing is done
	// before a restart. A restart gives a container that is made from something else a new writable layer; a guest keeps its
	// disks, and what it is made from is never changed. Default: Live. Mutable.
	// +optional
	UpdatePolicy UpdatePolicy `json:"updatePolicy,omitempty"`

	// DeletionPolicy says what becomes of the machine when this object is deleted: Delete removes it, Retain leaves it as it is,
	// also where its host can no longer be reached. Default: Delete. Mutable.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// Action is accepted for manifests of the first sketches of this kind, such as "active", and has no effect: runStrategy says
	// whether the machine runs.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Action string `json:"action,omitempty"`
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
