// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/placement"
)

// Fleet has all hosts and their drivers. It connects to the hosts, probes them and watches their events, each on its own: a host
// that hangs delays no other.
type Fleet struct {
	options Options
	members map[string]*member
}

// New returns a fleet of the hosts, whose names must differ. It connects to none of them before Start.
func New(hosts []machine.Host, options Options) *Fleet {
	options.setDefaults()
	f := &Fleet{options: options, members: make(map[string]*member, len(hosts))}
	for _, host := range hosts {
		f.members[host.Name] = newMember(host, options)
	}
	return f
}

// Start runs the fleet until ctx ends, then closes the drivers. Call it once; it returns nil.
func (f *Fleet) Start(ctx context.Context) error {
	var group sync.WaitGroup
	for _, m := range f.members {
		group.Go(func() { m.probe(ctx) })
		group.Go(func() { m.watch(ctx) })
		group.Go(func() { m.remind(ctx) })
	}
	group.Wait()
	for _, m := range f.members {
		m.close()
	}
	return nil
}

// Problem says why the fleet has no hosts, in one line: their configuration cannot be used. It wraps machine.ErrNoHost, and is nil if
// the configuration is good.
func (f *Fleet) Problem() error {
	if f.options.Problem == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", machine.ErrNoHost, strings.ReplaceAll(f.options.Problem.Error(), "\n", "; "))
}

// Driver returns the driver of the host, false if no such host is configured. Its calls fail at once with machine.ErrUnreachable
// while the host is down, are bounded by Limits, and at most Host.MaxCalls observations, actions and fetches run at a time each.
// Its Close does nothing.
func (f *Fleet) Driver(host string) (machine.Driver, bool) {
	m, ok := f.members[host]
	if !ok {
		return nil, false
	}
	return guard{m}, true
}

// Health returns the health of the host. A host that is not configured is down for good, with machine.ErrNoHost.
func (f *Fleet) Health(host string) Health {
	m, ok := f.members[host]
	if !ok {
		return Health{Err: fmt.Errorf("%w: %w: host %q", machine.ErrUnreachable, machine.ErrNoHost, host), Probed: true}
	}
	return m.health()
}

// HostState is a host and its health.
type HostState struct {
	Host   machine.Host
	Health Health
}

// Hosts returns every host with its health, sorted by name.
func (f *Fleet) Hosts() []HostState {
	out := make([]HostState, 0, len(f.members))
	for _, m := range f.members {
		out = append(out, HostState{Host: m.host, Health: m.health()})
	}
	slices.SortFunc(out, func(a, b HostState) int { return cmp.Compare(a.Host.Name, b.Host.Name) })
	return out
}

// Capacity is what Windlass may give away on the host: as configured, or else as the host reported last.
func (s HostState) Capacity() machine.Resources {
	configured, reported := s.Host.Capacity, s.Health.Info.Capacity
	return machine.Resources{
		MilliCPU:      cmp.Or(configured.MilliCPU, reported.MilliCPU),
		MemoryBytes:   cmp.Or(configured.MemoryBytes, reported.MemoryBytes),
		RootDiskBytes: cmp.Or(configured.RootDiskBytes, reported.RootDiskBytes),
	}
}

// Candidates returns every host for placement.Choose, given what is allocated on each by name.
func (f *Fleet) Candidates(allocated map[string]placement.Allocation) []placement.Candidate {
	states := f.Hosts()
	out := make([]placement.Candidate, 0, len(states))
	for _, state := range states {
		candidate := placement.Candidate{
			Name:       state.Host.Name,
			Driver:     state.Host.Driver,
			Namespaces: state.Host.Namespaces,
			Capacity:   state.Capacity(),
			Quota:      state.Host.Capacity,
			Allocated:  allocated[state.Host.Name],
		}
		if state.Health.Err != nil {
			candidate.Problem = state.Health.Err.Error()
		}
		out = append(out, candidate)
	}
	return out
}
