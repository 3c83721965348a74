// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/utils/clock"

	"github.com/windlass-operator/windlass/internal/machine"
)

// driver is a host's libvirt. It remembers nothing.
type driver struct {
	endpoint endpoint
	clock    clock.PassiveClock
	// runsKVM reports whether guests really run with KVM on the host.
	runsKVM func(arch string) bool

	// A daemon serves only a few calls of one connection at the same time. Calls that read must not wait for calls that start guests.
	looking, acting *link

	closed chan struct{}
	close  sync.Once
}

// Open returns the driver of a host. It fails only if the endpoint is invalid: the driver connects with its first call.
func Open(_ context.Context, host machine.Host) (machine.Driver, error) {
	e, err := parseEndpoint(host.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("cannot open host %q: %w", host.Name, err)
	}
	e.way.tls, e.way.ssh = host.TLS, host.SSH
	runsKVM := localKVM
	if e.way.over != overUnix {
		runsKVM = func(string) bool { return true } // as libvirt says
	}
	return &driver{
		endpoint: e, clock: clock.RealClock{}, runsKVM: runsKVM,
		looking: newLink(e), acting: newLink(e),
		closed: make(chan struct{}),
	}, nil
}

// Close implements machine.Driver. Watches end. A disk that is being created stays unfinished; the next driver recognizes it by its marker.
func (d *driver) Close() error {
	d.close.Do(func() {
		close(d.closed)
		d.looking.close()
		d.acting.close()
	})
	return nil
}
