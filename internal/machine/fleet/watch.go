// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// watch passes the host's events on as notices until ctx ends, and watches again whenever a watch breaks.
func (m *member) watch(ctx context.Context) {
	failures := 0
	for m.awaitUp(ctx) {
		lasted, err := m.watchOnce(ctx)
		m.suspect()
		// A watch that lasted is established again at once. One that breaks each time must not cost a look at every machine
		// each time.
		if failures++; err == nil && lasted > lastRetry {
			failures = 1
		}
		pause(ctx, jitter(backoff(failures)))
	}
}

// watchOnce watches the host until the watch breaks or ctx ends, and returns how long it lasted.
func (m *member) watchOnce(ctx context.Context) (time.Duration, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	events, err := m.establish(watching, m.options.Installation)
	m.options.Measure(m.host.Name, "watch", 0, err)
	if err != nil {
		return 0, err
	}
	begin := m.options.Clock.Now()
	m.options.Notify(ctx, Notice{Host: m.host.Name, Kind: WatchStarted})
	for e := range events {
		m.options.Notify(ctx, Notice{Host: m.host.Name, Kind: MachineChanged, Event: e})
	}
	return m.options.Clock.Since(begin), nil
}

// establish begins a watch that lasts until ctx ends. Only the beginning is bounded.
func (m *member) establish(ctx context.Context, installation string) (<-chan machine.Event, error) {
	watching, cancel := context.WithCancel(ctx)
	limit := time.AfterFunc(m.options.Limits.Call, cancel)
	events, err := m.current().Watch(watching, installation)
	if inTime := limit.Stop(); !inTime && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: no answer to watch within %s: %w", machine.ErrUnreachable, m.options.Limits.Call,
			context.DeadlineExceeded)
	}
	if err != nil {
		cancel()
	}
	return events, err
}
