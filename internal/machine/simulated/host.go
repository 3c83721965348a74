// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Host is a simulated host. It keeps running with its machines when drivers are closed.
type Host struct {
	mu sync.Mutex
	// script is how the host behaves, with the faults that are left.
	script Script
	dice   *rand.Rand
	away   bool

	images  map[string]bool
	names   map[string]*guest // by native name; a foreign machine has no identity
	owned   map[string]map[string]*guest
	disks   map[string]int // root disks by the identities of their machines, and when they were made
	used    machine.Resources
	watches map[*machine.EventQueue]string // and the installation that is watched
	serial  int
}

// NewHost returns a host that has no machines and behaves like the script.
func NewHost(script Script) *Host {
	script.setDefaults()
	script.Faults = slices.Clone(script.Faults)
	host := &Host{
		script:  script,
		dice:    rand.New(rand.NewPCG(script.Seed, 0)),
		images:  map[string]bool{},
		names:   map[string]*guest{},
		owned:   map[string]map[string]*guest{},
		disks:   map[string]int{},
		watches: map[*machine.EventQueue]string{},
	}
	for _, image := range script.Images {
		host.images[image] = true
	}
	return host
}

// Open returns a driver of the host, which can have any number of them.
func (h *Host) Open() machine.Driver { return &driver{host: h} }

// SetAway makes the host unreachable, or reachable again. While it is away, calls return machine.ErrUnreachable; watches end.
func (h *Host) SetAway(away bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.away = away
	if away {
		for queue := range h.watches {
			queue.End()
		}
		clear(h.watches)
	}
}

// Inject adds a fault to those of the script.
func (h *Host) Inject(fault Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.script.Faults = append(h.script.Faults, fault)
}

// Heal removes all faults.
func (h *Host) Heal() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.script.Faults = nil
}

// Kill ends a machine like a crash, or like a restart of the host if it is suspended. It reports whether there was one.
func (h *Host) Kill(id machine.Identity) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.find(id)
	if g == nil || !g.on() {
		return false
	}
	h.halt(g, killedExitCode, "killed")
	return true
}

// Remove removes a machine like an administrator. It reports whether there was one.
func (h *Host) Remove(id machine.Identity) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.find(id)
	if g == nil {
		return false
	}
	h.remove(g)
	return true
}

// Occupy makes a foreign machine with the native name. It reports whether the name was free.
func (h *Host) Occupy(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.names[name] != nil {
		return false
	}
	h.names[name] = &guest{name: name}
	return true
}

// Occupied reports whether a foreign machine has the native name.
func (h *Host) Occupied(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.names[name]
	return g != nil && g.spec.UID == ""
}

// find returns the machine with the identity, nil if there is none.
func (h *Host) find(id machine.Identity) *guest { return h.owned[id.Installation][id.UID] }

// nameFor returns the native name for a machine with the identity: its own name if that is free.
func (h *Host) nameFor(id machine.Identity) (string, error) {
	long := fmt.Sprintf("%s-%s-%.8s", id.Namespace, id.Name, id.UID)
	for _, name := range []string{id.Name, long} {
		if h.names[name] == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: both %q and %q are taken", machine.ErrConflict, id.Name, long)
}

// add makes a machine. The caller has checked that the host has enough resources.
func (h *Host) add(spec machine.Spec, behaviour behaviour) (*guest, error) {
	name, err := h.nameFor(spec.Identity)
	if err != nil {
		return nil, err
	}
	h.serial++
	g := &guest{
		id:        fmt.Sprintf("sim-%06d", h.serial),
		name:      name,
		spec:      spec,
		behaviour: behaviour,
		clock:     h.script.Clock,
		createdAt: h.script.Clock.Now(),
		state:     machine.StateCreated,
		printed:   newPrintout(),
	}
	if h.hasDisk(spec) {
		g.disks = []string{machine.RootDisk}
	}
	h.names[name] = g
	if h.owned[spec.Installation] == nil {
		h.owned[spec.Installation] = map[string]*guest{}
	}
	h.owned[spec.Installation][spec.UID] = g
	h.used = plus(h.used, spec.Resources, 1)
	h.tell(g)
	return g, nil
}

// remove removes a machine in any state.
func (h *Host) remove(g *guest) {
	if g.on() {
		g.halt(killedExitCode, "")
	}
	delete(h.names, g.name)
	delete(h.owned[g.spec.Installation], g.spec.UID)
	if len(h.owned[g.spec.Installation]) == 0 {
		delete(h.owned, g.spec.Installation)
	}
	h.used = plus(h.used, g.spec.Resources, -1)
	h.tell(g)
}

// halt powers off a machine that runs.
func (h *Host) halt(g *guest, exitCode int32, cause string) {
	g.halt(exitCode, cause)
	h.tell(g)
}

// reserve checks that the host has enough resources for a machine to change from one size to the other.
func (h *Host) reserve(now, to machine.Resources) error {
	capacity := h.script.Capacity
	for _, of := range []struct {
		noun                    string
		capacity, used, now, to int64
	}{
		{"CPU", capacity.MilliCPU, h.used.MilliCPU, now.MilliCPU, to.MilliCPU},
		{"memory", capacity.MemoryBytes, h.used.MemoryBytes, now.MemoryBytes, to.MemoryBytes},
		{"disk", capacity.RootDiskBytes, h.used.RootDiskBytes, now.RootDiskBytes, to.RootDiskBytes},
	} {
		if of.to < 0 {
			return fmt.Errorf("%w: its %s is negative", machine.ErrInvalid, of.noun)
		}
		if of.to > of.capacity-(of.used-of.now) {
			return fmt.Errorf("%w: too little %s is free", machine.ErrNoCapacity, of.noun)
		}
	}
	return nil
}

func plus(a, b machine.Resources, sign int64) machine.Resources {
	return machine.Resources{
		MilliCPU:      a.MilliCPU + sign*b.MilliCPU,
		MemoryBytes:   a.MemoryBytes + sign*b.MemoryBytes,
		RootDiskBytes: a.RootDiskBytes + sign*b.RootDiskBytes,
	}
}

// tell queues an event of the machine for everybody who watches its installation.
func (h *Host) tell(g *guest) {
	for queue, installation := range h.watches {
		if installation == g.spec.Installation {
			queue.Add(machine.Event{UID: g.spec.UID, Namespace: g.spec.Namespace, Name: g.spec.Name})
		}
	}
}

// unwatch ends a watch.
func (h *Host) unwatch(queue *machine.EventQueue) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watches, queue)
}
