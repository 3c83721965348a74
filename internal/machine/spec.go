// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import "time"

// Spec is what a machine shall be. Fields that a driver has no use for are refused by it with ErrUnsupported; Capabilities
// tell beforehand.
type Spec struct {
	Identity

	// Hash of everything that cannot be changed in place. The driver keeps it with the machine and gives it back.
	Hash      string
	Resources Resources
	Image     Image

	// Command and Args replace the image's entry point and its arguments. Env is added to its environment, in order.
	Command, Args []string
	Env           []EnvVar
	Ports         []Port

	// Boot, Disks, Networks and CloudInit are for guests.
	Boot      Boot
	Disks     []Disk
	Networks  []Network
	CloudInit CloudInit
}

// Resources are the size of a machine or of a host. Zero means no limit, and on a host that nothing is known.
type Resources struct {
	MilliCPU      int64
	MemoryBytes   int64
	RootDiskBytes int64
}

// PullPolicy says when an image is fetched.
type PullPolicy string

// The pull policies, as of a Pod.
const (
	PullIfNotPresent PullPolicy = "IfNotPresent"
	PullAlways       PullPolicy = "Always"
	PullNever        PullPolicy = "Never"
)

// Image is what a machine is made from: a container image, or for a guest the path of a disk image or "pool/volume", which
// is copied, never written to.
type Image struct {
	Name       string
	PullPolicy PullPolicy
	// Registry authenticates the pull, nil for none.
	Registry *RegistryAuth
}

// RegistryAuth authenticates at the registry of an image. It never appears in an error, a label or a log.
type RegistryAuth struct{ Username, Password, ServerAddress string }

// EnvVar is a variable of a container's environment.
type EnvVar struct{ Name, Value string }

// Protocol of a port.
type Protocol string

// The protocols of a port.
const (
	TCP Protocol = "TCP"
	UDP Protocol = "UDP"
)

// Port is a port of the machine, published on the host.
type Port struct {
	Name string
	// Port of the machine.
	Port uint16
	// HostPort that it is published on: 0 lets the host choose.
	HostPort uint16
	// HostIP that it is published on. Empty: 127.0.0.1.
	HostIP   string
	Protocol Protocol
}

// Boot boots a guest from a kernel instead of from its first disk. The paths are on the host.
type Boot struct{ Kernel, Initrd, Cmdline string }

// Disk of a guest, besides the root disk made from Image.
type Disk struct {
	Name string
	// SizeBytes of an empty disk. Zero where Source says what it is.
	SizeBytes int64
	// Source is the path or "pool/volume" of an existing disk, which is attached and never deleted.
	Source   string
	ReadOnly bool
}

// NetworkType says what a guest's network card is connected to.
type NetworkType string

// The kinds of networks.
const (
	NetworkUser    NetworkType = "user"    // outbound only, translated by the hypervisor
	NetworkNamed   NetworkType = "network" // a network that the host has defined
	NetworkBridged NetworkType = "bridge"  // a bridge of the host
)

// Network is a network card of a guest.
type Network struct {
	Name string
	Type NetworkType
	// Source is the name of the network or bridge.
	Source string
	// MAC address; empty: made from the UID, so that it stays the same.
	MAC string
}

// CloudInit is first-boot configuration, handed over as a NoCloud seed whose instance id is the UID. It may hold secrets.
type CloudInit struct{ UserData, MetaData, NetworkData string }

// IsZero reports whether there is nothing to configure.
func (c CloudInit) IsZero() bool { return c == CloudInit{} }

// PowerOffMode says how a machine is turned off.
type PowerOffMode string

// The ways of turning a machine off.
const (
	Soft    PowerOffMode = "Soft"    // ask it, and give up after the grace
	TrySoft PowerOffMode = "TrySoft" // ask it, and pull the plug after the grace
	Hard    PowerOffMode = "Hard"    // pull the plug
)

// PowerOff is how a machine is turned off.
type PowerOff struct {
	Mode  PowerOffMode
	Grace time.Duration
}
