// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// How many containers are asked at the same time, on behalf of one call. Counters are another matter: engines before 25 answer only with
// their next reading, which they take once a second of all containers, so that it is waiting and not work; but through SSH each
// connection is a process.
const (
	parallel        = 8
	parallelWaiting = 64
)

// driver is a connection to an engine. It remembers nothing but what cannot change.
type driver struct {
	api    *client.Client
	images *incarnations
	// readers is how many counters are read at the same time.
	readers int
	closed  chan struct{}
	close   sync.Once
}

// Open returns the driver of the host. It reads the host's TLS files, which is all that can fail; it connects with its first call. A
// client certificate that is renewed under the same name is used from the next connection on.
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
	return &driver{api: api, images: newIncarnations(), readers: readers, closed: make(chan struct{})}, nil
}

// Close implements machine.Driver. Watches end.
func (d *driver) Close() error {
	d.close.Do(func() { close(d.closed) })
	return d.api.Close()
}

// Info implements machine.Driver.
func (d *driver) Info(ctx context.Context) (machine.Info, error) {
	result, err := d.api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return machine.Info{}, explain(ctx, "ask the host", err)
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
		},
	}, nil
}

// each calls do for every item, at most limit at the same time, and returns what it returned, in order. The first error ends it.
func each[T, R any](ctx context.Context, limit int, items []T, do func(context.Context, T) (R, error)) ([]R, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	out, free := make([]R, len(items)), make(chan struct{}, limit)
	for i, item := range items {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			if ctx.Err() != nil {
				return
			}
			var err error
			if out[i], err = do(ctx, item); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return out, nil
}

// errGone ends the search for a container that has just been removed.
var errGone = errors.New("no such container any more")
