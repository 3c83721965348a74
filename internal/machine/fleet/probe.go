// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// failuresUntilDown is how many probes in a row have to fail before a host is down: one lost answer makes no machine unknown.
const failuresUntilDown = 2

// probe probes the host until ctx ends.
func (m *member) probe(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		info, err := m.ping(ctx)
		if ctx.Err() != nil {
			return
		}
		interval := m.options.ProbeInterval
		if err == nil {
			failures = 0
		} else {
			failures++
			interval = backoff(failures)
		}
		m.report(ctx, info, err, failures)
		m.await(ctx, interval)
	}
}

// ping probes the host once.
func (m *member) ping(ctx context.Context) (machine.Info, error) {
	limited, cancel := context.WithTimeout(ctx, m.options.Limits.Probe)
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

// unreachable makes every failure of a probe wrap machine.ErrUnreachable.
func (m *member) unreachable(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: no answer within %s: %w", machine.ErrUnreachable, m.options.Limits.Probe, context.DeadlineExceeded)
	case errors.Is(err, machine.ErrUnreachable):
		return err
	default:
		return fmt.Errorf("%w: %w", machine.ErrUnreachable, err)
	}
}

// report keeps the outcome of a probe, and notifies of a host that goes up or down.
func (m *member) report(ctx context.Context, info machine.Info, err error, failures int) {
	change := m.judge(info, err, failures)
	log := m.options.Log.WithValues("host", m.host.Name, "driver", m.host.Driver)
	switch change {
	case HostUp:
		log.Info("Host is up", "version", info.Version)
	case HostDown:
		log.Info("Host is down", "reason", err.Error())
	default:
		return
	}
	m.options.Notify(ctx, Notice{Host: m.host.Name, Kind: change})
}
