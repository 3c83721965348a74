// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/placement"
)

// NoticeKind says what a Notice is about.
type NoticeKind string

// The kinds of notices.
const (
	// MachineChanged: something happened to one machine.
	MachineChanged NoticeKind = "MachineChanged"
	// HostUp: the host answers, for the first time or again.
	HostUp NoticeKind = "HostUp"
	// HostDown: the host does not answer any more. Nothing is known of its machines.
	HostDown NoticeKind = "HostDown"
	// WatchStarted: from here on events are heard, and some may have been missed before: look once at every machine of the host.
	WatchStarted NoticeKind = "WatchStarted"
)

// Notice tells that something happened on a host.
type Notice struct {
	Host string
	Kind NoticeKind
	// Event says to which machine, for MachineChanged.
	Event machine.Event
}

// Options are what a Fleet is told besides its hosts. Open is required.
type Options struct {
	// Installation whose machines' events are heard.
	Installation string
	// Open connects to a host.
	Open machine.Opener
	// Notify is called with everything that happens. It is called by several goroutines; one that takes its time holds up
	// the notices of one host. Default: nobody is told.
	Notify func(ctx context.Context, notice Notice)
	// Measure is called after every call to a driver, with the name of the method in lower case. Default: nobody is told.
	Measure func(host, call string, took time.Duration, err error)
	// Log says which hosts come and go. Default: nowhere.
	Log logr.Logger
	// Clock tells the time of health and of calls. Default: the system's.
	Clock clock.PassiveClock
	// ProbeInterval is how often a healthy host is asked how it is, more or less. Default: 15 s.
	ProbeInterval time.Duration
	// ProbeTimeout is how long a host may take to answer that. Default: 10 s.
	ProbeTimeout time.Duration
	// CallTimeout is how long any call may take, on top of the grace of a power-off; Prepare has no limit but its caller's.
	// Default: 2 min.
	CallTimeout time.Duration
}

// Fleet is all hosts with their drivers. It connects to them, asks them how they are and hears their events, each host on its
// own: one that hangs holds up nobody else.
type Fleet struct {
	options Options
	members map[string]*member
}

// Health is how a host is.
type Health struct {
	// Err says why the host does not answer, and wraps ErrUnreachable; nil if it does.
	Err error
	// Probed is false as long as the host has not been asked for the first time: Err is set then, and means nothing yet.
	Probed bool
	// Info is what the host said last. It stays when the host goes down.
	Info machine.Info
	// Since is when the host came or went.
	Since time.Time
}

// HostState is a host and how it is.
type HostState struct {
	Host   machine.Host
	Health Health
}

// New returns the fleet of the hosts, whose names differ. It talks to none of them before Start.
func New(hosts []machine.Host, options Options) *Fleet {
	options.Clock = cmp.Or[clock.PassiveClock](options.Clock, clock.RealClock{})
	options.ProbeInterval = cmp.Or(options.ProbeInterval, 15*time.Second)
	options.ProbeTimeout = cmp.Or(options.ProbeTimeout, 10*time.Second)
	options.CallTimeout = cmp.Or(options.CallTimeout, 2*time.Minute)
	if options.Notify == nil {
		options.Notify = func(context.Context, Notice) {}
	}
	if options.Measure == nil {
		options.Measure = func(string, string, time.Duration, error) {}
	}
	fleet := &Fleet{options: options, members: make(map[string]*member, len(hosts))}
	for _, host := range hosts {
		fleet.members[host.Name] = newMember(host, options)
	}
	return fleet
}

// Start looks after the hosts until ctx ends, then closes their drivers. It is to be called once, and returns nil.
func (f *Fleet) Start(ctx context.Context) error {
	var group sync.WaitGroup
	for _, m := range f.members {
		group.Go(func() { m.probe(ctx) })
		group.Go(func() { m.listen(ctx) })
	}
	group.Wait()
	for _, m := range f.members {
		m.close()
	}
	return nil
}

// Driver returns the driver of the host, false if no such host is configured. Its calls fail at once with ErrUnreachable while the
// host is down, have a time limit, and wait for each other beyond Host.MaxCalls observations, actions and fetched images at a time.
// Its Close does nothing.
func (f *Fleet) Driver(host string) (machine.Driver, bool) {
	m, ok := f.members[host]
	if !ok {
		return nil, false
	}
	return guard{m}, true
}

// Health returns how the host is. One that is not configured is down for good, with ErrNoHost.
func (f *Fleet) Health(host string) Health {
	m, ok := f.members[host]
	if !ok {
		return Health{Err: fmt.Errorf("%w: %w: there is none called %q", machine.ErrUnreachable, machine.ErrNoHost, host), Probed: true}
	}
	return m.health()
}

// Hosts returns every host and how it is, by name.
func (f *Fleet) Hosts() []HostState {
	out := make([]HostState, 0, len(f.members))
	for _, m := range f.members {
		out = append(out, HostState{Host: m.host, Health: m.health()})
	}
	slices.SortFunc(out, func(a, b HostState) int { return cmp.Compare(a.Host.Name, b.Host.Name) })
	return out
}

// Candidates returns what placement.Choose needs to know of every host, given what is allocated on them by name.
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

// Capacity is what can be given away there: as configured, else as the host said last.
func (s HostState) Capacity() machine.Resources {
	configured, said := s.Host.Capacity, s.Health.Info.Capacity
	return machine.Resources{
		MilliCPU:      cmp.Or(configured.MilliCPU, said.MilliCPU),
		MemoryBytes:   cmp.Or(configured.MemoryBytes, said.MemoryBytes),
		RootDiskBytes: cmp.Or(configured.RootDiskBytes, said.RootDiskBytes),
	}
}

// errNotProbed is the health of a host before it was asked for the first time.
var errNotProbed = fmt.Errorf("%w: %w", machine.ErrUnreachable, errors.New("it has not been asked yet"))
