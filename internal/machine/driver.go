// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"time"
)

// Driver runs machines on one host.
type Driver interface {
	Observer
	Actor
	Consoles

	// Prepare fetches the image as the pull policy says, or copies disks, and returns when Create or Replace has all it needs. It may
	// take an hour. The caller repeats a Prepare that was cut off; it then continues, or starts again. ErrImageNotFound,
	// ErrImagePull or ErrInvalid if the image is not available, ErrDiskMismatch if a disk exists and does not fit, ErrDiskLost if one of
	// Spec.Kept does not exist. A spec that
	// Create would refuse on every host is refused here, before anything is fetched.
	Prepare(ctx context.Context, spec Spec) error

	// Close releases the connection. The machines keep running.
	Close() error
}

// Observer is the half of a Driver that only reads.
type Observer interface {
	// Info describes the host. It is also the health check: the error wraps ErrUnreachable if the host does not answer.
	Info(ctx context.Context) (Info, error)

	// Get observes the machine with the identity. ErrNotFound if there is none.
	Get(ctx context.Context, id Identity) (Observed, error)

	// List observes every machine of the installation, including stopped ones, sorted by UID. One that hangs is Silent, and does not keep the others
	// from being seen.
	List(ctx context.Context, installation string) ([]Observed, error)

	// Stats reads the counters of every running machine of the installation in as few calls as the host allows, keyed by
	// the UID of the VirtualMachine. Machines whose counters cannot be read, or not in time, are left out.
	Stats(ctx context.Context, installation string) (map[string]Sample, error)

	// Watch sends an event for everything that happens to a machine of the installation after Watch has returned. When ctx ends
	// or the connection breaks, it closes the channel; the caller then observes every machine once and watches again. An
	// event says that something happened to a machine, not what: the reader calls Get.
	Watch(ctx context.Context, installation string) (<-chan Event, error)
}

// Actor is the half of a Driver that changes machines.
type Actor interface {
	Maker
	Power

	// Resize changes the resources of the machine, without stopping it. It succeeds if the machine has them already.
	// ErrRestartRequired if they can change, or take effect, only while the machine is off; ErrNoCapacity or ErrInvalid if the
	// host refuses. A root disk only grows: ErrInvalid if it would become smaller, ErrUnsupported if the driver cannot change it.
	// A size of zero leaves it as it is.
	Resize(ctx context.Context, id Identity, to Resources) error

	// Delete powers the machine off and removes it with everything that was made for it (writable layer, anonymous volumes,
	// disks that the driver made, seed images). It succeeds if there is none. A machine that does not obey a soft stop is
	// not deleted: ErrBusy.
	Delete(ctx context.Context, id Identity, how PowerOff) error
}

// Power is the part of an Actor that decides whether a machine runs.
type Power interface {
	// Start powers the machine on, or resumes one that is suspended, in the same run. It succeeds if the machine runs already. ErrNotFound
	// if there is none.
	Start(ctx context.Context, id Identity) error

	// Stop powers the machine off and returns when it is off, also if somebody starts it again at once. It succeeds if the machine is off
	// already. ErrNotFound if there is no machine, and ErrBusy if it has not turned itself off within the grace of a soft stop.
	Stop(ctx context.Context, id Identity, how PowerOff) error

	// Suspend stops the processors of the machine and keeps its memory, until Start or Stop. The host remembers it only as long as it
	// runs. It succeeds if the machine is suspended already. ErrNotFound if there is none, and ErrOff if the machine is off.
	Suspend(ctx context.Context, id Identity) error
}

// Maker is the part of an Actor that makes machines from specs.
type Maker interface {
	// Create makes the machine without starting it. If one with the identity exists, Create adopts it, whatever its resources
	// and its state. ErrConflict if every name for it is taken by a foreign machine, ErrImageNotFound if Prepare was not called,
	// ErrNoCapacity or ErrInvalid if the host refuses the size or the spec, ErrDiskLost as Prepare. A Create that fails removes what it made, or the
	// next Create continues from there.
	Create(ctx context.Context, spec Spec) (Observed, error)

	// Replace makes the machine anew from the spec, without starting it. The old machine is turned off and removed only when the host
	// has accepted the new one: whatever the host refuses, the old one stays as it is. It succeeds if the machine was made from
	// the spec's Hash already. Without an old machine it works like Create. Errors are those of Create, and ErrBusy if the old machine
	// does not obey a soft stop. ErrUnsupported without Capabilities.Containers: the disks of a guest outlive its description.
	Replace(ctx context.Context, spec Spec, how PowerOff) (Observed, error)
}

// The names of the drivers, as a VirtualMachine and a hosts file give them.
const (
	DriverDocker    = "docker"
	DriverLibvirt   = "libvirt"
	DriverSimulated = "simulated"
)

// Info describes a host.
type Info struct {
	// Driver is the name of the driver: docker, libvirt, simulated.
	Driver string
	// Version of the engine or hypervisor, as it reports it.
	Version string
	// Capacity is the total of the host.
	Capacity Resources
	// Capabilities are what the driver can do on this host.
	Capabilities Capabilities
	// Emulated says that guests run without hardware virtualization, and slowly.
	Emulated bool
}

// Capabilities are what a driver can do on a host. It refuses a spec that asks for more with ErrUnsupported.
type Capabilities struct {
	// LiveCPU, LiveMemory and LiveRootDisk: Resize works while the machine runs.
	LiveCPU, LiveMemory, LiveRootDisk bool
	// RootDisk: a machine has a root disk of a size of its own, which Resize can make larger.
	RootDisk bool
	// Containers: the machine is made from a container image, with a command, an environment and published ports. Replace works.
	Containers bool
	// Disks: disks that are made for a machine outlive it, until Delete, and Observed.Disks names them.
	Disks bool
	// Guests: the machine boots a kernel or a disk, and takes disks, networks and cloud-init.
	Guests bool
	// Output: the host keeps what machines write to their consoles, and Output reads it.
	Output bool
	// Console: Console opens a console for typing.
	Console bool
}

// Identity says which VirtualMachine a machine belongs to. Installation and UID decide; the names are for people.
type Identity struct {
	// Installation tells the machines of one cluster from those of another on a host that they share. It is the UID of the
	// namespace kube-system.
	Installation string
	// UID of the VirtualMachine.
	UID string
	// Namespace and Name of the VirtualMachine.
	Namespace, Name string
}

// State of a machine.
type State string

// The states of a machine.
const (
	StateCreated  State = "Created"  // exists and has never run
	StateRunning  State = "Running"  // runs
	StatePaused   State = "Paused"   // is suspended, by Windlass or by somebody else
	StateStopping State = "Stopping" // is shutting down
	StateStopped  State = "Stopped"  // has run and is off, by Windlass or by somebody else
	StateUnknown  State = "Unknown"  // is in a state that the driver does not know
)

// Observed is a machine as its host shows it.
type Observed struct {
	Identity

	// ID and NativeName are the identifier and the name of the machine on its host: of the container or the domain.
	ID, NativeName string
	// Silent says that the host lists the machine, and shows no more of it in time than its UID, ID and NativeName. Only List tells of such machines. Of
	// a guest it is not known then whether it belongs to the installation.
	Silent bool
	State  State
	// Replacing says that the machine that replaces this one has been made: if this one is off, it was turned off for that.
	Replacing bool
	// SpecHash is the Hash of the spec that the machine was made from.
	SpecHash string
	// Resources that the machine has now.
	Resources Resources
	// CreatedAt, StartedAt and FinishedAt are zero where the host does not know.
	CreatedAt, StartedAt, FinishedAt time.Time
	// ExitCode of the last run, nil while it runs, before it has run, and where a machine has none.
	ExitCode *int32
	// Cause says in the host's words why the machine stopped ("OOMKilled", "crashed"), or why the host has suspended it; empty after an orderly
	// stop, and if somebody has asked for the suspension.
	Cause string
	// Disks are the names of the disks that were made for the machine and that its guest can write to, sorted.
	Disks []string
	// Addresses of the machine, sorted.
	Addresses []string
	// Ports of the machine that are published on the host.
	Ports []Port
}

// Sample is one reading of a machine's raw counters. Measure computes rates from two of them.
type Sample struct {
	At time.Time
	// Boot identifies the run. If it differs between two samples, the counters restarted in between.
	Boot string
	// CPU time used since boot, on all processors.
	CPU time.Duration
	// MemoryBytes is the working set: memory that cannot be reclaimed without harm.
	MemoryBytes int64
	// Limits of the machine at that time.
	Limits Resources
}

// Event says that something happened to a machine.
type Event struct {
	// UID of the VirtualMachine.
	UID string
	// Namespace and Name of the VirtualMachine, as recorded in the machine.
	Namespace, Name string
}
