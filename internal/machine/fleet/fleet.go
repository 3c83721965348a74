// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/placement"
)

// Options configure a Fleet. Open is required.
type Options struct {
	// Installation whose events are watched.
	Installation string
	// Open connects to a host.
	Open machine.Opener
	// Problem says why the configuration of the hosts cannot be used, nil if it can. Such a fleet has no hosts.
	Problem error
	// Notify is called for every notice, by one or two goroutines for each host: while it runs, further notices of that host
	// wait. Default: nobody is notified.
	Notify func(ctx context.Context, notice Notice)
	// Measure is called after every call to a driver, with the name of the method in lower case. Default: nothing is measured.
	Measure func(host, call string, took time.Duration, err error)
	// Log says which hosts come and go. Default: nothing is logged.
	Log logr.Logger
	// Clock tells the time of health and of calls. Default: the system's.
	Clock clock.PassiveClock
	// ProbeInterval is how often a healthy host is probed, give or take a fifth. Default: 15 s.
	ProbeInterval time.Duration

	// Limits of the calls. Nothing else in the program bounds a driver.
	Limits Limits
}

// Limits bound how long a call to a driver may take. A call that exceeds its limit fails with machine.ErrUnreachable, and the host
// is probed soon; only Prepare, whose duration says nothing about the host, fails with machine.ErrImagePull.
type Limits struct {
	// Probe is for the Info that a host is probed with. Default: 10 s.
	Probe time.Duration
	// Get is for one look at one machine, which callers wait for. Default: 5 s.
	Get time.Duration
	// GetRest is how long further Gets of a host fail at once after one has exceeded its limit: a host that hangs costs one
	// waiting caller, not all of them. Default: 15 s.
	GetRest time.Duration
	// Call is for every other call, on top of the grace of a power-off. A Watch has to be established within it. Default: 2 min.
	Call time.Duration
	// Prepare is for fetching an image or copying disks. Default: 1 h.
	Prepare time.Duration
}

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

func (o *Options) setDefaults() {
	o.Clock = cmp.Or[clock.PassiveClock](o.Clock, clock.RealClock{})
	o.ProbeInterval = cmp.Or(o.ProbeInterval, 15*time.Second)
	o.Limits.Probe = cmp.Or(o.Limits.Probe, 10*time.Second)
	o.Limits.Get = cmp.Or(o.Limits.Get, 5*time.Second)
	o.Limits.GetRest = cmp.Or(o.Limits.GetRest, 15*time.Second)
	o.Limits.Call = cmp.Or(o.Limits.Call, 2*time.Minute)
	o.Limits.Prepare = cmp.Or(o.Limits.Prepare, time.Hour)
	if o.Notify == nil {
		o.Notify = func(context.Context, Notice) {}
	}
	if o.Measure == nil {
		o.Measure = func(string, string, time.Duration, error) {}
	}
}

// Start runs the fleet until ctx ends, then closes the drivers. Call it once; it returns nil.
func (f *Fleet) Start(ctx context.Context) error {
	var group sync.WaitGroup
	for _, m := range f.members {
		group.Go(func() { m.probe(ctx) })
		group.Go(func() { m.watch(ctx) })
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

// Health is the state of a host.
type Health struct {
	// Err says why the host is down, and wraps machine.ErrUnreachable; nil while it is up.
	Err error
	// Probed is false until the first probe has ended: until then Err is set and means nothing.
	Probed bool
	// Info is what the host reported last. It stays when the host goes down.
	Info machine.Info
	// Since is when the host last went up or down.
	Since time.Time
}

// errNotProbed is the health of a host before its first probe.
var errNotProbed = fmt.Errorf("%w: %w", machine.ErrUnreachable, errors.New("not probed yet"))

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
			Name:      state.Host.Name,
			Driver:    state.Host.Driver,
			Capacity:  state.Capacity(),
			Allocated: allocated[state.Host.Name],
		}
		if state.Health.Err != nil {
			candidate.Problem = state.Health.Err.Error()
		}
		out = append(out, candidate)
	}
	return out
}
