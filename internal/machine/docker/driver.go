// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// driver is a connection to an engine. Of machines it remembers only what cannot change, and what consoles have left in them.
type driver struct {
	api    *client.Client
	images *incarnations
	// networks are those that containers can be connected to.
	networks *networks
	// left is what consoles could not end.
	left *leftovers
	// policy confines new containers.
	policy machine.ContainerPolicy
	// readers is how many counters are read at the same time.
	readers int
	closed  chan struct{}
	close   sync.Once
}

// Open returns the driver of the host. It reads the TLS files of the host and connects with its first call. When a client
// certificate is renewed under the same path, new connections use it.
func Open(_ context.Context, host machine.Host) (machine.Driver, error) {
	options, err := connect(host)
	if err != nil {
		return nil, fmt.Errorf("cannot open host %q: %w", host.Name, err)
	}
	api, err := client.New(options...)
	if err != nil {
		return nil, fmt.Errorf("cannot open host %q: %w", host.Name, err)
	}
	readers := parallelWaiting
	if strings.HasPrefix(host.Endpoint, "ssh:") {
		readers = parallel
	}
	return &driver{
		api: api, images: newIncarnations(), networks: newNetworks(), left: newLeftovers(), policy: host.Containers, readers: readers,
		closed: make(chan struct{}),
	}, nil
}

// Close implements machine.Driver and ends all watches.
func (d *driver) Close() error {
	d.close.Do(func() { close(d.closed) })
	return d.api.Close()
}

// Info implements machine.Driver.
func (d *driver) Info(ctx context.Context) (machine.Info, error) {
	result, err := d.api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return machine.Info{}, explain(ctx, "inspect the engine", err)
	}
	info := result.Info
	return machine.Info{
		Driver:   machine.DriverDocker,
		Version:  info.ServerVersion,
		Capacity: machine.Resources{MilliCPU: int64(info.NCPU) * 1000, MemoryBytes: info.MemTotal},
		Capabilities: machine.Capabilities{
			LiveCPU:    info.CPUCfsQuota,
			LiveMemory: info.MemoryLimit,
			Containers: true,
			Output:     true,
			Console:    true,
		},
	}, nil
}
