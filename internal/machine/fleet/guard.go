// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// guard is the driver that callers get for a host. It fails fast while the host is down, bounds how many calls run at the same
// time and how long each takes, and has them measured.
type guard struct{ *member }

// call is one call of a driver that the guard makes.
type call struct {
	name string
	// namespace of the machine whose editors decide how long the call may take, empty if they do not.
	namespace string
	// lane has the slots that the call takes one of.
	lane *lane
	// limit of the call, and whether it includes the wait for a slot.
	limit    time.Duration
	hurrying bool
}

// run makes the call.
func (g guard) run(ctx context.Context, c call, do func(context.Context, machine.Driver) error) error {
	if err := g.health().Err; err != nil {
		return err
	}
	waiting, stopWaiting := ctx, context.CancelFunc(func() {})
	if c.hurrying {
		waiting, stopWaiting = context.WithTimeout(ctx, c.limit)
	}
	defer stopWaiting()
	leave, err := c.lane.enter(waiting, c.namespace)
	if err != nil {
		return c.explain(ctx, waiting, fmt.Errorf("cannot %s on host %q: waiting for a slot: %w", c.name, g.host.Name, err))
	}
	defer leave()
	limited, cancel := context.WithTimeout(waiting, c.limit)
	defer cancel()
	begin := g.options.Clock.Now()
	within, end := tracing.Call(limited, g.host.Name, c.name)
	err = c.explain(ctx, limited, do(within, g.current()))
	end(machine.KindOf(err))
	g.options.Measure(g.host.Name, c.name, g.options.Clock.Since(begin), err)
	if errors.Is(err, machine.ErrUnreachable) {
		g.suspect()
	}
	return err
}

// explain tells a call that exceeded its limit from one that its caller ended. A host that takes long to fetch an image still
// answers, so it is not unreachable.
func (c call) explain(ctx, limited context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() != nil || !errors.Is(limited.Err(), context.DeadlineExceeded):
		return err
	case c.name == "prepare":
		return fmt.Errorf("%w: not done within %s: %w", machine.ErrImagePull, c.limit, err)
	case c.hurrying:
		return late(c.name, c.limit)
	default:
		return fmt.Errorf("%w: no answer to %s within %s: %w", machine.ErrUnreachable, c.name, c.limit, err)
	}
}

// ask makes a call that has a result.
func ask[T any](ctx context.Context, g guard, c call, do func(context.Context, machine.Driver) (T, error)) (T, error) {
	var out T
	err := g.run(ctx, c, func(ctx context.Context, driver machine.Driver) error {
		var err error
		out, err = do(ctx, driver)
		return err
	})
	return out, err
}

func (g guard) observation(name string) call {
	return call{name: name, lane: g.observations, limit: g.options.Limits.Call}
}

func (g guard) action(name string) call {
	return call{name: name, lane: g.actions, limit: g.options.Limits.Call}
}

// powerOff is an action that includes turning the machine off, which may take its grace.
func (g guard) powerOff(name string, id machine.Identity, how machine.PowerOff) call {
	return call{name: name, namespace: id.Namespace, lane: g.actions, limit: g.options.Limits.Call + how.Grace}
}

// Info implements machine.Driver.
func (g guard) Info(ctx context.Context) (machine.Info, error) {
	return ask(ctx, g, g.observation("info"), func(ctx context.Context, driver machine.Driver) (machine.Info, error) {
		return driver.Info(ctx)
	})
}

// Get implements machine.Driver.
func (g guard) Get(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	if err := g.resting(id); err != nil {
		g.miss(id)
		return machine.Observed{}, err
	}
	observed, err := g.look(ctx, id)
	if ctx.Err() == nil && errors.Is(err, machine.ErrUnreachable) {
		g.miss(id)
	}
	return observed, err
}

// look is Get also while the host or the machine rests.
func (g guard) look(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	look := call{name: "get", lane: g.observations, limit: g.options.Limits.Get, hurrying: true}
	observed, err := ask(ctx, g, look, func(ctx context.Context, driver machine.Driver) (machine.Observed, error) {
		return driver.Get(ctx, id)
	})
	switch {
	case ctx.Err() != nil:
	case !errors.Is(err, machine.ErrUnreachable):
		g.answered()
	case errors.Is(err, context.DeadlineExceeded):
		g.rest(id)
	}
	return observed, err
}

// List implements machine.Driver.
func (g guard) List(ctx context.Context, installation string) ([]machine.Observed, error) {
	return ask(ctx, g, g.observation("list"), func(ctx context.Context, driver machine.Driver) ([]machine.Observed, error) {
		return driver.List(ctx, installation)
	})
}

// Stats implements machine.Driver.
func (g guard) Stats(ctx context.Context, installation string) (map[string]machine.Sample, error) {
	return ask(ctx, g, g.observation("stats"), func(ctx context.Context, driver machine.Driver) (map[string]machine.Sample, error) {
		return driver.Stats(ctx, installation)
	})
}

// Watch implements machine.Driver. Once established it takes no slot in a lane, and lasts as long as ctx.
func (g guard) Watch(ctx context.Context, installation string) (<-chan machine.Event, error) {
	if err := g.health().Err; err != nil {
		return nil, err
	}
	return g.establish(ctx, installation)
}

// Output implements machine.Driver. Only opening it is bounded; what it returns lasts as long as ctx. At most maxReaders are open on a
// host at a time.
func (g guard) Output(ctx context.Context, id machine.Identity, options machine.OutputOptions) (io.ReadCloser, error) {
	reading, end, err := open(ctx, g, "output", func(ctx context.Context, driver machine.Driver) (io.ReadCloser, error) {
		return driver.Output(ctx, id, options)
	})
	if err != nil {
		return nil, err
	}
	return &stream{reading, end}, nil
}

// Console implements machine.Driver. It is bounded as Output is, and takes one of the same slots.
func (g guard) Console(ctx context.Context, id machine.Identity) (machine.Console, error) {
	at, end, err := open(ctx, g, "console", func(ctx context.Context, driver machine.Driver) (machine.Console, error) {
		return driver.Console(ctx, id)
	})
	if err != nil {
		return nil, err
	}
	return &console{at, end}, nil
}

// Prepare implements machine.Driver.
func (g guard) Prepare(ctx context.Context, spec machine.Spec) error {
	fetch := call{name: "prepare", namespace: spec.Namespace, lane: g.fetches, limit: g.options.Limits.Prepare}
	return g.run(ctx, fetch, func(ctx context.Context, driver machine.Driver) error { return driver.Prepare(ctx, spec) })
}

// Create implements machine.Driver.
func (g guard) Create(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
	return ask(ctx, g, g.action("create"), func(ctx context.Context, driver machine.Driver) (machine.Observed, error) {
		return driver.Create(ctx, spec)
	})
}

// Replace implements machine.Driver.
func (g guard) Replace(ctx context.Context, spec machine.Spec, how machine.PowerOff) (machine.Observed, error) {
	return ask(ctx, g, g.powerOff("replace", spec.Identity, how), func(ctx context.Context, driver machine.Driver) (machine.Observed, error) {
		return driver.Replace(ctx, spec, how)
	})
}

// Start implements machine.Driver.
func (g guard) Start(ctx context.Context, id machine.Identity) error {
	return g.run(ctx, g.action("start"), func(ctx context.Context, driver machine.Driver) error {
		return driver.Start(ctx, id)
	})
}

// Stop implements machine.Driver.
func (g guard) Stop(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	return g.run(ctx, g.powerOff("stop", id, how), func(ctx context.Context, driver machine.Driver) error {
		return driver.Stop(ctx, id, how)
	})
}

// Suspend implements machine.Driver.
func (g guard) Suspend(ctx context.Context, id machine.Identity) error {
	return g.run(ctx, g.action("suspend"), func(ctx context.Context, driver machine.Driver) error {
		return driver.Suspend(ctx, id)
	})
}

// Resize implements machine.Driver.
func (g guard) Resize(ctx context.Context, id machine.Identity, to machine.Resources) error {
	return g.run(ctx, g.action("resize"), func(ctx context.Context, driver machine.Driver) error {
		return driver.Resize(ctx, id, to)
	})
}

// Delete implements machine.Driver.
func (g guard) Delete(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	return g.run(ctx, g.powerOff("delete", id, how), func(ctx context.Context, driver machine.Driver) error {
		return driver.Delete(ctx, id, how)
	})
}

// Close implements machine.Driver and does nothing: the fleet closes the drivers that it has opened.
func (g guard) Close() error { return nil }
