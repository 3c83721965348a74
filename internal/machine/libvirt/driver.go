// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/windlass-operator/windlass/internal/machine"
)

// driver is a host's libvirt. It remembers nothing but what it is doing.
type driver struct {
	endpoint endpoint
	clock    clock.PassiveClock
	// runsKVM tells whether guests of KVM really run on the host.
	runsKVM func(arch string) bool

	// A daemon serves only a few calls of one connection at the same time. Those that look shall not wait for those that start guests.
	looking, acting *link

	making *workshop
	closed chan struct{}
	close  sync.Once
}

// Open returns the driver of the host, whose endpoint is all that can be wrong: it connects with its first call.
func Open(_ context.Context, host machine.Host) (machine.Driver, error) {
	e, err := parseEndpoint(host.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("cannot open host %q: %w", host.Name, err)
	}
	return &driver{
		endpoint: e, clock: clock.RealClock{}, runsKVM: localKVM,
		looking: newLink(e), acting: newLink(e),
		making: newWorkshop(), closed: make(chan struct{}),
	}, nil
}

// Close implements machine.Driver. Watches end, and what is being made is left half-made, for the next driver to remove.
func (d *driver) Close() error {
	d.close.Do(func() {
		close(d.closed)
		d.looking.close()
		d.acting.close()
	})
	return nil
}

// errSilent is why a call ends that nobody else has limited.
var errSilent = fmt.Errorf("%w: no answer in time: %w", machine.ErrUnreachable, context.DeadlineExceeded)

// bound limits a call that has no limit yet.
func bound(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if _, limited := ctx.Deadline(); limited {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, errSilent)
}
