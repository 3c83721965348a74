// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// start starts all lanes.
func (c *campaign) start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	c.lanes = make([]*lane, c.options.Lanes)
	for i := range c.lanes {
		c.lanes[i] = newLane(c.programs, i)
		c.lanes[i].skewed = c.skewed
		group.Go(func() error { return c.lanes[i].start(ctx) })
	}
	return group.Wait()
}

func (c *campaign) stop(ctx context.Context) error {
	var errs []error
	for _, l := range c.lanes {
		errs = append(errs, l.stop(ctx))
	}
	return errors.Join(errs...)
}

// restart gives a lane a new control plane. What was found on the former one may not hold on it.
func (c *campaign) restart(ctx context.Context, l *lane) error {
	c.mutex.Lock()
	c.restarts++
	for _, r := range c.rows {
		delete(r.own, l)
	}
	c.mutex.Unlock()
	return l.restart(ctx)
}

// each gives work to the lanes until all of it is done.
func each[T any](ctx context.Context, lanes []*lane, work []T, do func(context.Context, *lane, T) error) error {
	queue := make(chan T, len(work))
	for _, item := range work {
		queue <- item
	}
	close(queue)
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range slices.Compact(slices.Clone(lanes)) {
		group.Go(func() error {
			for item := range queue {
				if err := do(ctx, l, item); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// job is what a lane has to do.
type job func(ctx context.Context, l *lane) error

// inTurn gives the lanes the jobs of beside and of first, and as soon as those of first are done also the ones that then returns. It ends when all are.
func inTurn(ctx context.Context, lanes []*lane, beside, first []job, then func() []job) error {
	queue := make(chan job)
	group, ctx := errgroup.WithContext(ctx)
	give := func(work []job) error {
		for _, one := range work {
			select {
			case queue <- one:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	var pending sync.WaitGroup
	counted := make([]job, len(first))
	for i, one := range first {
		pending.Add(1)
		counted[i] = func(ctx context.Context, l *lane) error {
			defer pending.Done()
			return one(ctx, l)
		}
	}
	group.Go(func() error {
		defer close(queue)
		if err := give(slices.Concat(beside, counted)); err != nil {
			return err
		}
		pending.Wait()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return give(then())
	})
	for _, l := range lanes {
		group.Go(func() error {
			for one := range queue {
				if err := one(ctx, l); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
