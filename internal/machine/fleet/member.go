// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The rhythm of asking a host that does not answer: at once a second time, so that one lost answer makes nobody unknown, then ever
// more seldom.
const (
	failuresUntilDown = 2
	firstRetry        = time.Second
	lastRetry         = 30 * time.Second
)

// member is a host of a fleet.
type member struct {
	host    machine.Host
	options Options

	// Each kind of call has its own lane: images that come slowly shall not keep machines from being stopped, nor machines that
	// take their time to stop keep others from being looked at.
	observations, actions, fetches chan struct{}
	// ask wakes the probe: a call has found the host gone.
	ask chan struct{}

	mu     sync.Mutex
	driver machine.Driver
	state  Health
	// turned is closed, and replaced, when the host comes or goes.
	turned chan struct{}
}

func newMember(host machine.Host, options Options) *member {
	if host.MaxCalls < 1 {
		host.MaxCalls = machine.DefaultMaxCalls
	}
	return &member{
		host:         host,
		options:      options,
		observations: make(chan struct{}, host.MaxCalls),
		actions:      make(chan struct{}, host.MaxCalls),
		fetches:      make(chan struct{}, host.MaxCalls),
		ask:          make(chan struct{}, 1),
		state:        Health{Err: errNotProbed, Since: options.Clock.Now()},
		turned:       make(chan struct{}),
	}
}

// probe asks the host how it is until ctx ends.
func (m *member) probe(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		info, err := m.ping(ctx)
		if ctx.Err() != nil {
			return
		}
		wait := m.options.ProbeInterval
		if err == nil {
			failures = 0
		} else {
			failures++
			wait = backoff(failures)
		}
		m.report(ctx, info, err, failures)
		select {
		case <-ctx.Done():
		case <-m.ask:
			// At most one question a second, however many calls have failed.
			pause(ctx, firstRetry)
		case <-time.After(jitter(wait)):
		}
	}
}

// ping asks the host once.
func (m *member) ping(ctx context.Context) (machine.Info, error) {
	limited, cancel := context.WithTimeout(ctx, m.options.ProbeTimeout)
	defer cancel()
	driver, err := m.open(limited)
	if err != nil {
		return machine.Info{}, m.unreachable(err)
	}
	begin := m.options.Clock.Now()
	info, err := driver.Info(limited)
	m.options.Measure(m.host.Name, "info", m.options.Clock.Since(begin), err)
	if err != nil {
		return machine.Info{}, m.unreachable(err)
	}
	return info, nil
}

// unreachable makes any reason not to answer wrap ErrUnreachable.
func (m *member) unreachable(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: no answer within %s: %w", machine.ErrUnreachable, m.options.ProbeTimeout, context.DeadlineExceeded)
	case errors.Is(err, machine.ErrUnreachable):
		return err
	default:
		return fmt.Errorf("%w: %w", machine.ErrUnreachable, err)
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

func (m *member) current() machine.Driver {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.driver
}

func (m *member) health() Health {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// report keeps what a probe has found, and tells of a host that comes or goes.
func (m *member) report(ctx context.Context, info machine.Info, err error, failures int) {
	m.mu.Lock()
	before := m.state
	switch {
	case err == nil:
		m.state.Err, m.state.Info, m.state.Probed = nil, info, true
	case failures >= failuresUntilDown:
		m.state.Err, m.state.Probed = err, true
	}
	came := before.Err != nil && m.state.Err == nil
	went := (before.Err == nil || !before.Probed) && m.state.Err != nil && m.state.Probed
	if came || went {
		m.state.Since = m.options.Clock.Now()
		close(m.turned)
		m.turned = make(chan struct{})
	}
	m.mu.Unlock()

	log := m.options.Log.WithValues("host", m.host.Name, "driver", m.host.Driver)
	switch {
	case came:
		log.Info("Host is up", "version", info.Version)
		m.options.Notify(ctx, Notice{Host: m.host.Name, Kind: HostUp})
	case went:
		log.Info("Host is down", "reason", err.Error())
		m.options.Notify(ctx, Notice{Host: m.host.Name, Kind: HostDown})
	}
}

// listen hears the host's events until ctx ends, and begins again whenever they break off.
func (m *member) listen(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		if !m.awaitUp(ctx) {
			return
		}
		events, err := m.current().Watch(ctx, m.options.Installation)
		m.options.Measure(m.host.Name, "watch", 0, err)
		if err != nil {
			failures++
			m.suspect()
			pause(ctx, jitter(backoff(failures)))
			continue
		}
		begin := m.options.Clock.Now()
		m.options.Notify(ctx, Notice{Host: m.host.Name, Kind: WatchStarted})
		for e := range events {
			m.options.Notify(ctx, Notice{Host: m.host.Name, Kind: MachineChanged, Event: e})
		}
		// One that held is taken up again at once; one that breaks off each time is not to cost a look at everything each time.
		if failures++; m.options.Clock.Since(begin) > lastRetry {
			failures = 1
		}
		m.suspect()
		pause(ctx, jitter(backoff(failures)))
	}
}

// awaitUp waits until the host is up. False if ctx ended before.
func (m *member) awaitUp(ctx context.Context) bool {
	for {
		m.mu.Lock()
		up, turned := m.state.Err == nil, m.turned
		m.mu.Unlock()
		if up {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-turned:
		}
	}
}

// suspect has the host asked soon.
func (m *member) suspect() {
	select {
	case m.ask <- struct{}{}:
	default: // It will be asked anyway.
	}
}

func (m *member) close() {
	if driver := m.current(); driver != nil {
		if err := driver.Close(); err != nil {
			m.options.Log.Error(err, "Cannot close the driver", "host", m.host.Name)
		}
	}
}

// backoff is how long to wait after that many failures in a row.
func backoff(failures int) time.Duration {
	return min(lastRetry, firstRetry<<min(failures-1, 10))
}

// jitter keeps hosts from being asked in step: a fifth more or less.
func jitter(d time.Duration) time.Duration {
	return d*4/5 + rand.N(d*2/5+1)
}

// pause waits, but not longer than ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
