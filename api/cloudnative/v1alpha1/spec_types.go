// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The names of the sizes in spec.resource.
const (
	ResourceCPU      = corev1.ResourceCPU
	ResourceMemory   = corev1.ResourceMemory
	ResourceRootDisk = corev1.ResourceName("rootDisk")
)

// Driver runs a machine.
//
// +kubebuilder:validation:Enum=docker;libvirt;simulated
type Driver string

// The drivers.
const (
	DriverDocker    Driver = "docker"
	DriverLibvirt   Driver = "libvirt"
	DriverSimulated Driver = "simulated"
)

// RunStrategy says when a machine runs.
//
// +kubebuilder:validation:Enum=Always;RerunOnFailure;Once;Halted;Suspended
type RunStrategy string

// The run strategies.
const (
	RunAlways         RunStrategy = "Always"
	RunRerunOnFailure RunStrategy = "RerunOnFailure"
	RunOnce           RunStrategy = "Once"
	RunHalted         RunStrategy = "Halted"
	RunSuspended      RunStrategy = "Suspended"
)

// Action is what early manifests of this kind ask for.
//
// +kubebuilder:validation:Enum=active
type Action string

// ActionActive asks for a machine that runs.
const ActionActive Action = "active"

// UpdatePolicy says what a change of the spec may do to a machine that exists.
//
// +kubebuilder:validation:Enum=Live;Restart;Manual
type UpdatePolicy string

// The update policies.
const (
	UpdateLive    UpdatePolicy = "Live"
	UpdateRestart UpdatePolicy = "Restart"
	UpdateManual  UpdatePolicy = "Manual"
)

// DeletionPolicy says what happens to the machine of an object that is deleted.
//
// +kubebuilder:validation:Enum=Delete;Retain
type DeletionPolicy string

// The deletion policies.
const (
	DeletionDelete DeletionPolicy = "Delete"
	DeletionRetain DeletionPolicy = "Retain"
)

// PowerOffMode says how a machine is turned off.
//
// +kubebuilder:validation:Enum=Soft;TrySoft;Hard
type PowerOffMode string

// The ways of turning a machine off.
const (
	PowerOffSoft    PowerOffMode = "Soft"
	PowerOffTrySoft PowerOffMode = "TrySoft"
	PowerOffHard    PowerOffMode = "Hard"
)

// PowerOff says how a machine is turned off.
type PowerOff struct {
	// Mode is Soft (the machine is asked to shut down, and keeps running if it does not within the grace period), TrySoft (it is
	// asked, and powered off after the grace period) or Hard (it is powered off at once). Default: TrySoft. Mutable.
	// +optional
	Mode PowerOffMode `json:"mode,omitempty"`

	// GracePeriodSeconds is how long the machine may take to shut down. Default: 30. Mutable.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	GracePeriodSeconds *int32 `json:"gracePeriodSeconds,omitempty"`
}

// PullPolicy says when an image is fetched.
//
// +kubebuilder:validation:Enum=IfNotPresent;Always;Never
type PullPolicy string

// The pull policies.
const (
	PullIfNotPresent PullPolicy = "IfNotPresent"
	PullAlways       PullPolicy = "Always"
	PullNever        PullPolicy = "Never"
)

// Image is what a machine is created from.
type Image struct {
	// Name is a container image or, for a guest, the path of a disk image on the host or "pool/volume". The disk image is copied and
	// never written to. Default: nginx:1.17.4 for a container, none for a guest.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`

	// PullPolicy says when the image is fetched: IfNotPresent, Always or Never. A guest refuses Always. Default: IfNotPresent.
	// +optional
	PullPolicy PullPolicy `json:"pullPolicy,omitempty"`

	// PullSecret names a Secret of type kubernetes.io/dockerconfigjson in the same namespace, with the credentials for the image's
	// registry. A guest refuses it. Default: none.
	// +optional
	PullSecret *LocalSecret `json:"pullSecret,omitempty"`
}

// LocalSecret names a Secret in the same namespace.
type LocalSecret struct {
	// Name of the Secret. Empty: none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// SecretKey names a key of a Secret in the same namespace.
type SecretKey struct {
	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key in the Secret. Default: userData.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// EnvVar is a variable of a container's environment.
type EnvVar struct {
	// Name of the variable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[^=]+$`
	Name string `json:"name"`

	// Value of the variable. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Value string `json:"value,omitempty"`
}

// Protocol of a port.
//
// +kubebuilder:validation:Enum=TCP;UDP
type Protocol string

// The protocols of a port.
const (
	ProtocolTCP Protocol = "TCP"
	ProtocolUDP Protocol = "UDP"
)

// Port is a port of a container, published on its host.
type Port struct {
	// Name of the port. status.server.ports repeats it, so that people and programs find the port of the host by it. A change has
	// no effect on the machine. Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// Port of the container.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// HostPort is the port of the host. 0 lets the host choose one, which status.server.ports shows. Default: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	HostPort int32 `json:"hostPort,omitempty"`

	// HostIP is the address of the host that the port is published on. Default: 127.0.0.1, which only the host itself can reach.
	// +optional
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || isIP(self)",message="hostIP must be an IP address"
	HostIP string `json:"hostIP,omitempty"`

	// Protocol is TCP or UDP. Default: TCP.
	// +optional
	Protocol Protocol `json:"protocol,omitempty"`
}

// Boot is a kernel that a guest boots. All paths are on the host.
type Boot struct {
	// Kernel is the path of the kernel.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Kernel string `json:"kernel"`

	// Initrd is the path of the initial RAM disk. Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Initrd string `json:"initrd,omitempty"`

	// Cmdline is the kernel's command line. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Cmdline string `json:"cmdline,omitempty"`
}

// Disk is a disk of a guest besides its root disk.
//
// +kubebuilder:validation:XValidation:rule="has(self.size) != (has(self.source) && size(self.source) > 0)",message="a disk needs either size or source, not both"
type Disk struct {
	// Name of the disk.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Size of an empty disk, in bytes, as in 10Gi. The disk is created and removed with the machine.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`

	// Source is the path or the "pool/volume" of an existing disk. It is attached and never removed.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Source string `json:"source,omitempty"`

	// ReadOnly says that the guest cannot write to the disk. Default: false.
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`
}

// NetworkType says what a network card is connected to.
//
// +kubebuilder:validation:Enum=user;network;bridge
type NetworkType string

// The types of networks.
const (
	NetworkUser    NetworkType = "user"
	NetworkNamed   NetworkType = "network"
	NetworkBridged NetworkType = "bridge"
)

// Network is a network card of a guest.
//
// +kubebuilder:validation:XValidation:rule="(has(self.type) && self.type in ['network', 'bridge']) == (has(self.source) && size(self.source) > 0)",message="source is required for the types network and bridge, and not allowed for the type user"
type Network struct {
	// Name of the card.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Type is user (connects out through the host and cannot be reached from outside), network (a network that the host defines) or
	// bridge (a bridge of the host). Default: user.
	// +optional
	Type NetworkType `json:"type,omitempty"`

	// Source is the name of the network or of the bridge.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Source string `json:"source,omitempty"`

	// MAC is the address of the card, as in 52:54:00:12:34:56. Default: derived from the UID of the object.
	// +optional
	// +kubebuilder:validation:MaxLength=17
	// +kubebuilder:validation:Pattern=`^([0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5})?$`
	MAC string `json:"mac,omitempty"`
}

// CloudInit configures a guest when it boots for the first time.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.userData) && size(self.userData) > 0 && has(self.userDataSecretRef))",message="set either userData or userDataSecretRef, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.sshAuthorizedKeys) || size(self.sshAuthorizedKeys) == 0 || !((has(self.userData) && size(self.userData) > 0) || has(self.userDataSecretRef))",message="sshAuthorizedKeys cannot be combined with userData or userDataSecretRef: put the keys into the user data"
type CloudInit struct {
	// UserData is the guest's user data, which usually begins with "#cloud-config". Everybody who can read this object can read it:
	// use userDataSecretRef for secrets.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	UserData string `json:"userData,omitempty"`

	// UserDataSecretRef names the Secret that holds the user data.
	// +optional
	UserDataSecretRef *SecretKey `json:"userDataSecretRef,omitempty"`

	// NetworkData is the guest's network configuration. Default: none, so that the guest uses DHCP.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	NetworkData string `json:"networkData,omitempty"`

	// SSHAuthorizedKeys are public keys that can log in as the image's default user. They become the user data, so they cannot be
	// combined with userData or userDataSecretRef.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=8192
	// +kubebuilder:validation:items:Pattern=`^[^\r\n]+$`
	SSHAuthorizedKeys []string `json:"sshAuthorizedKeys,omitempty"`
}
