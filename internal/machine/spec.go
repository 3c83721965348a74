// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import "time"

// Spec describes a machine to make. A driver refuses fields that it cannot use with ErrUnsupported; Capabilities tell
// beforehand.
type Spec struct {
	Identity

	// Hash of everything that cannot be changed in place. The driver stores it in the machine and returns it as
	// Observed.SpecHash.
	Hash      string
	Resources Resources
	Image     Image

	// Command and Args replace the entry point of the image and its arguments. Env is added to its environment, in order.
	Command, Args []string
	Env           []EnvVar
	Ports         []Port

	// Boot, Disks, Networks and CloudInit are for guests only.
	Boot      Boot
	Disks     []Disk
	Networks  []Network
	CloudInit CloudInit

	// Kept are the names of disks that were made before, as Observed.Disks has them, and may hold data. They are never made again.
	Kept []string
}

// RootDisk is the name of the disk that is made from the image.
const RootDisk = "root"

// DataDisk returns the name of the disk that is made for one of Spec.Disks.
func DataDisk(name string) string { return "disk-" + name }

// Resources are the size of a machine or of a host. Zero means unlimited for a machine, and unknown for a host.
type Resources struct {
	MilliCPU      int64
	MemoryBytes   int64
	RootDiskBytes int64
}

// PullPolicy says when to fetch an image.
type PullPolicy string

// The pull policies, as of a Pod.
const (
	PullIfNotPresent PullPolicy = "IfNotPresent"
	PullAlways       PullPolicy = "Always"
	PullNever        PullPolicy = "Never"
)

// Image is what a machine is made from: a container image, or for a guest the path of a disk image or "pool/volume". A disk
// image is copied and never written to.
type Image struct {
	Name       string
	PullPolicy PullPolicy
	// Registry authenticates the pull, nil for none.
	Registry *RegistryAuth
}

// RegistryAuth holds the credentials for a registry. They never appear in an error, a label or a log.
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
	// Port of the machine.
	Port uint16
	// HostPort to publish it on; 0 lets the host choose.
	HostPort uint16
	// HostIP to publish it on. Empty: 127.0.0.1.
	HostIP   string
	Protocol Protocol
}

// Boot boots a guest from a kernel instead of from its first disk. Paths are those on the host.
type Boot struct{ Kernel, Initrd, Cmdline string }

// Disk of a guest, besides the root disk made from Image.
type Disk struct {
	Name string
	// SizeBytes of an empty disk to make. Zero if Source is set.
	SizeBytes int64
	// Source is the path or "pool/volume" of an existing disk. It is attached and never deleted.
	Source   string
	ReadOnly bool
}

// NetworkType says what the network interface of a guest is connected to.
type NetworkType string

// The types of networks.
const (
	NetworkUser    NetworkType = "user"    // outbound only, through address translation in the hypervisor
	NetworkNamed   NetworkType = "network" // a network that is defined on the host
	NetworkBridged NetworkType = "bridge"  // a bridge of the host
)

// Network is a network interface of a guest.
type Network struct {
	Name string
	Type NetworkType
	// Source is the name of the network or bridge.
	Source string
	// MAC address. Empty: derived from the UID, so that it stays the same.
	MAC string
}

// CloudInit is first-boot configuration, passed as a NoCloud seed whose instance ID is the UID. It may contain secrets.
type CloudInit struct{ UserData, NetworkData string }

// IsZero reports whether there is no configuration.
func (c CloudInit) IsZero() bool { return c == CloudInit{} }

// PowerOffMode says how to power a machine off.
type PowerOffMode string

// The ways to power a machine off.
const (
	Soft    PowerOffMode = "Soft"    // request a shutdown, and give up after the grace
	TrySoft PowerOffMode = "TrySoft" // request a shutdown, and cut the power after the grace
	Hard    PowerOffMode = "Hard"    // cut the power at once
)

// PowerOff says how to power a machine off, and how long to wait for a soft stop.
type PowerOff struct {
	Mode  PowerOffMode
	Grace time.Duration
}
