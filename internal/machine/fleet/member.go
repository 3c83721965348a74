// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

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

// member is a host of a fleet, with what is known about it.
type member struct {
	host    machine.Host
	options Options

	// Each kind of call has a lane of its own: slow images must not keep machines from being stopped, nor slow stops keep others
	// from being observed.
	observations, actions, fetches *lane
	// readers has the slots of streams that are open.
	readers chan struct{}
	// wake has a token when a call has found the host gone, and a probe is due.
	wake chan struct{}
	// again has a token when machines that were missed have to be looked at again.
	again chan struct{}

	mu     sync.Mutex
	driver machine.Driver
	state  Health
	// changed is closed, and replaced, when the host goes up or down.
	changed chan struct{}
	// restsUntil is when Gets are made again after those of two machines were too slow.
	restsUntil time.Time
	// slow is the machine whose Get was too slow last. It is the zero identity if a Get was answered since.
	slow machine.Identity
	// missed are the machines that a Get had no answer about, with when a Get of them is made again if it was too slow.
	missed map[machine.Identity]time.Time
}

func newMember(host machine.Host, options Options) *member {
	if host.MaxCalls < 1 {
		host.MaxCalls = machine.DefaultMaxCalls
	}
	return &member{
		host:         host,
		options:      options,
		observations: newLane(host.MaxCalls),
		actions:      newLane(host.MaxCalls),
		fetches:      newLane(host.MaxCalls),
		readers:      make(chan struct{}, maxReaders),
		wake:         make(chan struct{}, 1),
		again:        make(chan struct{}, 1),
		missed:       map[machine.Identity]time.Time{},
		state:        Health{Err: errNotProbed, Since: options.Clock.Now()},
		changed:      make(chan struct{}),
	}
}

// open returns the driver, which it opens if that has not succeeded before.
func (m *member) open(ctx context.Context) (machine.Driver, error) {
	if driver := m.current(); driver != nil {
		return driver, nil
	}
	driver, err := m.options.Open(ctx, m.host)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s driver: %w", m.host.Driver, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.driver = driver
	return driver, nil
}

// current returns the driver, nil if it is not open.
func (m *member) current() machine.Driver {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.driver
}

// close closes the driver if it is open.
func (m *member) close() {
	if driver := m.current(); driver != nil {
		if err := driver.Close(); err != nil {
			m.options.Log.Error(err, "Cannot close the driver", "host", m.host.Name)
		}
	}
}

func (m *member) health() Health {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// judge takes the outcome of a probe into the health, and returns HostUp or HostDown if the host went up or down.
func (m *member) judge(info machine.Info, err error, failures int) NoticeKind {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.state
	switch {
	case err == nil:
		m.state.Err, m.state.Info, m.state.Probed = nil, info, true
	case failures >= failuresUntilDown:
		m.state.Err, m.state.Probed = err, true
	}
	var change NoticeKind
	switch {
	case before.Err != nil && m.state.Err == nil:
		change = HostUp
	case (before.Err == nil || !before.Probed) && m.state.Err != nil && m.state.Probed:
		change = HostDown
	default:
		return ""
	}
	m.state.Since = m.options.Clock.Now()
	close(m.changed)
	m.changed = make(chan struct{})
	return change
}

// awaitUp waits until the host is up. False if ctx ended before.
func (m *member) awaitUp(ctx context.Context) bool {
	for ctx.Err() == nil {
		m.mu.Lock()
		up, changed := m.state.Err == nil, m.changed
		m.mu.Unlock()
		if up {
			return true
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	return false
}

// suspect has the host probed soon.
func (m *member) suspect() {
	select {
	case m.wake <- struct{}{}:
	default: // A probe is due already.
	}
}

// await waits for the next probe: for about the interval, or until somebody suspects the host.
func (m *member) await(ctx context.Context, interval time.Duration) {
	select {
	case <-ctx.Done():
	case <-m.wake:
		pause(ctx, firstRetry) // At most one probe a second, however many calls fail.
	case <-time.After(jitter(interval)):
	}
}
