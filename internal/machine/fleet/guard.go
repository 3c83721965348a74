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

// guard is the driver of a host as callers get it: it fails fast while the host is down, limits how many calls are made at the
// same time and how long each may take, and has them measured.
type guard struct{ *member }

// call makes one call in a lane. A limit of zero leaves it to the caller.
func (g guard) call(ctx context.Context, lane chan struct{}, name string, limit time.Duration, do func(context.Context, machine.Driver) error) error {
	if err := g.health().Err; err != nil {
		return err
	}
	select {
	case lane <- struct{}{}:
		defer func() { <-lane }()
	case <-ctx.Done():
		return fmt.Errorf("cannot %s on host %q: it is busy: %w", name, g.host.Name, ctx.Err())
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()

	begin := g.options.Clock.Now()
	err := do(limited, g.current())
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w: no answer to %s within %s: %w", machine.ErrUnreachable, name, limit, err)
	}
	g.options.Measure(g.host.Name, name, g.options.Clock.Since(begin), err)
	if errors.Is(err, machine.ErrUnreachable) {
		g.suspect()
	}
	return err
}

// ask makes a call in a lane that has a result.
func ask[T any](ctx context.Context, g guard, lane chan struct{}, name string, do func(context.Context, machine.Driver) (T, error)) (T, error) {
	var out T
	err := g.call(ctx, lane, name, g.options.CallTimeout, func(ctx context.Context, driver machine.Driver) error {
		var err error
		out, err = do(ctx, driver)
		return err
	})
	return out, err
}

// Info implements Driver.
func (g guard) Info(ctx context.Context) (machine.Info, error) {
	return ask(ctx, g, g.observations, "info", func(ctx context.Context, driver machine.Driver) (machine.Info, error) { return driver.Info(ctx) })
}

// Get implements Driver.
func (g guard) Get(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	return ask(ctx, g, g.observations, "get", func(ctx context.Context, driver machine.Driver) (machine.Observed, error) {
		return driver.Get(ctx, id)
	})
}

// List implements Driver.
func (g guard) List(ctx context.Context, installation string) ([]machine.Observed, error) {
	return ask(ctx, g, g.observations, "list", func(ctx context.Context, driver machine.Driver) ([]machine.Observed, error) {
		return driver.List(ctx, installation)
	})
}

// Stats implements Driver.
func (g guard) Stats(ctx context.Context, installation string) (map[string]machine.Sample, error) {
	return ask(ctx, g, g.observations, "stats", func(ctx context.Context, driver machine.Driver) (map[string]machine.Sample, error) {
		return driver.Stats(ctx, installation)
	})
}

// Watch implements Driver. It has no time limit and takes no place in a lane: it goes on for as long as ctx does.
func (g guard) Watch(ctx context.Context, installation string) (<-chan machine.Event, error) {
	if err := g.health().Err; err != nil {
		return nil, err
	}
	return g.current().Watch(ctx, installation)
}

// Prepare implements Driver.
func (g guard) Prepare(ctx context.Context, spec machine.Spec) error {
	return g.call(ctx, g.fetches, "prepare", 0, func(ctx context.Context, driver machine.Driver) error { return driver.Prepare(ctx, spec) })
}

// Create implements Driver.
func (g guard) Create(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
	return ask(ctx, g, g.actions, "create", func(ctx context.Context, driver machine.Driver) (machine.Observed, error) {
		return driver.Create(ctx, spec)
	})
}

// Start implements Driver.
func (g guard) Start(ctx context.Context, id machine.Identity) error {
	return g.call(ctx, g.actions, "start", g.options.CallTimeout, func(ctx context.Context, driver machine.Driver) error {
		return driver.Start(ctx, id)
	})
}

// Stop implements Driver.
func (g guard) Stop(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	return g.call(ctx, g.actions, "stop", g.options.CallTimeout+how.Grace, func(ctx context.Context, driver machine.Driver) error {
		return driver.Stop(ctx, id, how)
	})
}

// Resize implements Driver.
func (g guard) Resize(ctx context.Context, id machine.Identity, to machine.Resources) error {
	return g.call(ctx, g.actions, "resize", g.options.CallTimeout, func(ctx context.Context, driver machine.Driver) error {
		return driver.Resize(ctx, id, to)
	})
}

// Delete implements Driver.
func (g guard) Delete(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	return g.call(ctx, g.actions, "delete", g.options.CallTimeout+how.Grace, func(ctx context.Context, driver machine.Driver) error {
		return driver.Delete(ctx, id, how)
	})
}

// Close implements Driver and does nothing: the fleet closes what it has opened.
func (g guard) Close() error { return nil }
