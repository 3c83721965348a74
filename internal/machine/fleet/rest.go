// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// rest begins the time in which Gets of the machine fail at once because one was too slow, and those of all machines if one of another machine was too slow
// before and none was answered since: a host that hangs costs few waiting callers, and a machine that hangs does not keep others from being observed.
func (m *member) rest(id machine.Identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	until := m.options.Clock.Now().Add(m.options.Limits.GetRest)
	m.missed[id] = until
	if m.slow != (machine.Identity{}) && m.slow != id {
		m.restsUntil = until
	}
	m.slow = id
}

// answered notes that a Get was answered.
func (m *member) answered() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow = machine.Identity{}
}

// resting returns why a Get of the machine fails at once, nil if it does not.
func (m *member) resting(id machine.Identity) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.options.Clock.Now(); !now.Before(m.restsUntil) && !now.Before(m.missed[id]) {
		return nil
	}
	return late("get", m.options.Limits.Get)
}

// late is the error of a call that callers wait for. One that is not made, because the last one was late, has the same: a status must not change with every
// look at a machine that hangs.
func late(name string, limit time.Duration) error {
	return fmt.Errorf("%w: no answer to %s within %s: %w", machine.ErrUnreachable, name, limit, context.DeadlineExceeded)
}

// miss notes that a Get had no answer about a machine.
func (m *member) miss(id machine.Identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.missed[id]; !known {
		m.missed[id] = time.Time{}
	}
	select {
	case m.again <- struct{}{}:
	default: // It is there already.
	}
}

// anyMissed returns one of the machines that were missed, and false if none was. The one whose Get was too slow the longest ago comes first, and before
// it those whose Gets were not: the machine that hangs may be the only one.
func (m *member) anyMissed() (id machine.Identity, some bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for one, until := range m.missed {
		if !some || until.Before(m.missed[id]) {
			id, some = one, true
		}
	}
	return id, some
}

// takeMissed returns all of them, which are looked at from now on: no Get has to rest.
func (m *member) takeMissed() map[machine.Identity]time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.missed
	m.missed, m.restsUntil = map[machine.Identity]time.Time{}, time.Time{}
	return out
}

// remind has machines looked at again that a Get had no answer about, until ctx ends. A host can be too slow for one Get and never be
// down, so that nothing else would say when it answers again.
func (m *member) remind(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.again:
			m.lookAgain(ctx)
		}
	}
}

// lookAgain looks at one of the machines, less and less often, until the host answers, and then notifies of all of them: only of these,
// or a host that fails now and then would have all of its machines looked at all the time.
func (m *member) lookAgain(ctx context.Context) {
	for failures := 1; ctx.Err() == nil && m.health().Err == nil; failures++ {
		pause(ctx, jitter(backoff(failures)))
		id, some := m.anyMissed()
		if !some {
			return
		}
		if _, err := (guard{m}).look(ctx, id); ctx.Err() != nil || errors.Is(err, machine.ErrUnreachable) {
			continue
		}
		for id := range m.takeMissed() {
			event := machine.Event{UID: id.UID, Namespace: id.Namespace, Name: id.Name}
			m.options.Notify(ctx, Notice{Host: m.host.Name, Kind: MachineChanged, Event: event})
		}
		return
	}
	m.takeMissed() // The host is down, and is notified of when it comes back.
}
