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

	// Prepare makes ready what the machine is made from, and returns when it is there: it fetches the image as the pull policy
	// says, or copies disks. It may take an hour. A Prepare that was cut off is called again, and goes on or begins anew.
	// ErrImageNotFound, ErrImagePull or ErrInvalid if the image cannot be had.
	Prepare(ctx context.Context, spec Spec) error

	// Close releases the connection. The machines go on.
	Close() error
}

// Observer is the half of a Driver that reads and changes nothing.
type Observer interface {
	// Info asks the host what it is. It is the health check: an error wraps ErrUnreachable when the host does not answer.
	Info(ctx context.Context) (Info, error)

	// Get observes the machine with the identity. ErrNotFound if there is none.
	Get(ctx context.Context, id Identity) (Observed, error)

	// List observes every machine of the installation, stopped ones too, in the order of their UIDs.
	List(ctx context.Context, installation string) ([]Observed, error)

	// Stats reads the counters of every running machine of the installation in as few calls as the host allows, keyed by
	// the UID of the VirtualMachine. A machine whose counters cannot be read is left out.
	Stats(ctx context.Context, installation string) (map[string]Sample, error)

	// Watch sends an event for everything that happens to a machine of the installation, until ctx ends or the connection
	// breaks; then the channel is closed and the caller has to look at everything once and watch again. Events say that
	// something happened and to whom, not what is: the reader calls Get. What happens after Watch has returned is sent.
	Watch(ctx context.Context, installation string) (<-chan Event, error)
}

// Actor is the half of a Driver that changes machines.
type Actor interface {
	// Create makes the machine without starting it, or adopts the one with the identity that exists already, whatever its
	// resources and its state. ErrConflict if the only name left belongs to somebody else, ErrImageNotFound if Prepare was
	// not called, ErrNoCapacity or ErrInvalid if the host refuses the size or the shape. What a failed Create has begun,
	// it removes, or the next Create goes on with.
	Create(ctx context.Context, spec Spec) (Observed, error)

	// Start powers the machine on. Success if it runs. ErrNotFound if there is none.
	Start(ctx context.Context, id Identity) error

	// Stop powers the machine off and returns when it is off. Success if it is off. ErrNotFound if there is none, and
	// ErrBusy if a soft stop was not obeyed within its grace.
	Stop(ctx context.Context, id Identity, how PowerOff) error

	// Resize gives the machine other resources, while it runs if it runs. ErrRestartRequired if that takes effect (or can
	// be done) only while the machine is off, ErrNoCapacity or ErrInvalid if the host refuses. Success if it has them.
	Resize(ctx context.Context, id Identity, to Resources) error

	// Delete powers the machine off and removes it with all that was made for it (writable layer, anonymous volumes, disks
	// that Create made, seed images). Success if there is none. A machine that does not obey a soft stop is not deleted:
	// ErrBusy.
	Delete(ctx context.Context, id Identity, how PowerOff) error
}

// The names of the drivers, as a VirtualMachine and a hosts file give them.
const (
	DriverDocker    = "docker"
	DriverLibvirt   = "libvirt"
	DriverSimulated = "simulated"
)

// Info is what a host says of itself.
type Info struct {
	// Driver is the name of the driver: docker, libvirt, simulated.
	Driver string
	// Version of the engine or hypervisor, as it gives it.
	Version string
	// Capacity is all that the host has.
	Capacity Resources
	// Capabilities are what the driver can do on this host.
	Capabilities Capabilities
	// Emulated says that guests run without the help of the processor, and slowly.
	Emulated bool
}

// Capabilities are what a driver can do on a host. A spec that asks for more is refused with ErrUnsupported.
type Capabilities struct {
	// LiveCPU and LiveMemory: Resize works while the machine runs.
	LiveCPU, LiveMemory bool
	// Containers: the machine is made from a container image, with a command, an environment and published ports.
	Containers bool
	// Guests: the machine boots a kernel or a disk, and takes disks, networks and cloud-init.
	Guests bool
}

// Identity is whose machine it is. Installation and UID are what counts; the names are there for the eye.
type Identity struct {
	// Installation tells one Windlass from another on a host that they share: the UID of the namespace kube-system.
	Installation string
	// UID of the VirtualMachine.
	UID string
	// Namespace and Name of the VirtualMachine.
	Namespace, Name string
}

// State is what a machine does.
type State string

// The states of a machine.
const (
	StateCreated  State = "Created"  // exists and has never run
	StateRunning  State = "Running"  // runs
	StatePaused   State = "Paused"   // is held: somebody suspended it
	StateStopping State = "Stopping" // is on its way off
	StateStopped  State = "Stopped"  // has run and is off, whoever turned it off
	StateUnknown  State = "Unknown"  // is in a state the driver has no word for
)

// Observed is a machine as its host shows it.
type Observed struct {
	Identity

	// ID is what the host calls the machine (a container's or a domain's id), NativeName its name there.
	ID, NativeName string
	State          State
	// SpecHash is the hash that Create was given.
	SpecHash string
	// Resources that the machine has now.
	Resources Resources
	// CreatedAt, StartedAt and FinishedAt are zero where the host does not know.
	CreatedAt, StartedAt, FinishedAt time.Time
	// ExitCode of the last run, nil while it runs, before it has run, and where a machine has none.
	ExitCode *int32
	// Cause says in the host's words why the machine stopped ("OOMKilled", "crashed"), empty where it stopped in order.
	Cause string
	// Addresses of the machine, sorted.
	Addresses []string
	// Ports that are published on the host.
	Ports []Port
}

// Sample is a reading of a machine's raw counters. Rates are for the reader to compute from two of them.
type Sample struct {
	At time.Time
	// Boot tells runs apart: where it differs between two samples, the counters began anew.
	Boot string
	// CPU time consumed since boot, over all processors.
	CPU time.Duration
	// MemoryBytes is the working set: what cannot be taken back without harm.
	MemoryBytes int64
	// Limits that the machine had when it was read.
	Limits Resources
}

// Event says that something happened to a machine.
type Event struct {
	// UID of the VirtualMachine.
	UID string
	// Namespace and Name of the VirtualMachine, as the machine carries them.
	Namespace, Name string
}
