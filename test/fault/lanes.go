// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// start starts the lanes that work in any case. With a quota, the others start when they may work.
func (c *campaign) start(ctx context.Context) error {
	c.lanes = make([]*lane, c.options.Lanes)
	for i := range c.lanes {
		c.lanes[i] = newLane(c.programs, i)
		c.lanes[i].skewed = c.skewed
	}
	first := c.lanes
	if c.quota != nil {
		first = first[:c.quota.now]
	}
	c.tell("starting %d control planes", len(first))
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range first {
		group.Go(func() error { return l.start(ctx) })
	}
	return group.Wait()
}

// peak is how many lanes worked side by side at most.
func (c *campaign) peak() int {
	if c.quota == nil {
		return len(c.lanes)
	}
	return c.quota.peak
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
	c.mutex.Unlock()
	if err := c.end(ctx, l); err != nil {
		return err
	}
	return l.start(ctx)
}

// end stops a lane that may be started again.
func (c *campaign) end(ctx context.Context, l *lane) error {
	c.mutex.Lock()
	for _, r := range c.rows {
		delete(r.own, l)
	}
	c.mutex.Unlock()
	return l.stop(ctx)
}

// admit waits until a lane may work, with a control plane. One that may not work has none: it would cost a twentieth of a processor at rest.
// It returns false if the context ends before.
func (c *campaign) admit(ctx context.Context, l *lane) (bool, error) {
	for !c.quota.admits(l.number) || !c.begin(ctx, l) {
		if l.started {
			if err := c.end(ctx, l); err != nil {
				return false, err
			}
		}
		if !c.quota.await(ctx, l.number) {
			return false, nil
		}
	}
	return true, nil
}

// begin starts a lane that has no control plane, and reports whether it has one. If one does not start, the campaign goes on with those that it has.
func (c *campaign) begin(ctx context.Context, l *lane) bool {
	if l.started {
		return true
	}
	err := c.quota.whileStarting(func() error { return l.start(ctx) })
	if err != nil && ctx.Err() == nil {
		c.tell("no more than %d lanes work: %v", l.number, err)
		c.quota.lower(l.number)
	}
	return err == nil
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

// turns are the jobs of a campaign, in the order in which they may begin.
type turns struct {
	// beside take long and are no other job's concern, so they begin first.
	beside []job
	// groups are independent of each other: the jobs that follow in one of them do not wait for the others.
	groups []group
	// admit waits until a lane may do its next job, and returns false if the context ends before: it does when no job is left. If it is nil, all lanes may.
	admit func(ctx context.Context, l *lane) (bool, error)
}

// group is jobs of which some are known only after others.
type group struct {
	// first have to be done before then is called.
	first []job
	// then returns the jobs that follow, and those that the first few lanes take before all others: what such a job needs is made once for each lane. When nothing
	// else is left, all lanes take them.
	then func() (all, few []job)
}

// inTurn gives the lanes the jobs, and ends when all are done.
func inTurn(ctx context.Context, lanes []*lane, jobs turns) error {
	shared, few := make(chan job), make(chan job)
	working, ctx := errgroup.WithContext(ctx)
	working.Go(func() error {
		defer close(shared)
		defer close(few)
		return give(ctx, shared, few, jobs)
	})
	waiting, end := context.WithCancel(ctx)
	defer end()
	for i, l := range lanes {
		own := few
		if i >= max(1, len(lanes)/fewLanes) {
			own = nil
		}
		var admit func() (bool, error)
		if jobs.admit != nil {
			admit = func() (bool, error) { return jobs.admit(waiting, l) }
		}
		working.Go(func() error {
			defer end()
			return work(ctx, l, admit, own, shared)
		})
	}
	return working.Wait()
}

// give gives all jobs to lanes: those for few lanes to these, and to all others too when nothing else is left.
func give(ctx context.Context, shared, few chan<- job, jobs turns) error {
	giving, ctx := errgroup.WithContext(ctx)
	first, known := jobs.beside, make([]<-chan struct{}, len(jobs.groups))
	for i := range jobs.groups {
		var own []job
		own, known[i] = jobs.groups[i].counted()
		first = slices.Concat(first, own)
	}
	var others sync.WaitGroup
	others.Add(len(jobs.groups))
	alone := make(chan struct{})
	giving.Go(func() error {
		err := send(ctx, first, shared)
		others.Wait()
		close(alone)
		return err
	})
	for i := range jobs.groups {
		giving.Go(func() error {
			select {
			case <-known[i]:
			case <-ctx.Done():
				others.Done()
				return ctx.Err()
			}
			all, some := jobs.groups[i].then()
			giving.Go(func() error { return sendFew(ctx, some, few, shared, alone) })
			defer others.Done()
			return send(ctx, all, shared)
		})
	}
	return giving.Wait()
}

// counted returns the first jobs of a group, and a channel that is closed when all of them have been done.
func (g *group) counted() (jobs []job, known <-chan struct{}) {
	done := make(chan struct{})
	if len(g.first) == 0 {
		close(done)
	}
	var left atomic.Int64
	left.Store(int64(len(g.first)))
	for _, one := range g.first {
		jobs = append(jobs, func(ctx context.Context, l *lane) error {
			err := one(ctx, l)
			if err == nil && left.Add(-1) == 0 {
				close(done)
			}
			return err
		})
	}
	return jobs, done
}

// send sends jobs to lanes.
func send(ctx context.Context, work []job, to chan<- job) error {
	for _, one := range work {
		select {
		case to <- one:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// sendFew sends jobs to few lanes, and to all of them once these jobs are alone.
func sendFew(ctx context.Context, work []job, few, shared chan<- job, alone <-chan struct{}) error {
	var all chan<- job
	for len(work) > 0 {
		select {
		case few <- work[0]:
			work = work[1:]
		case all <- work[0]:
			work = work[1:]
		case <-alone:
			all, alone = shared, nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// fewLanes says that one of so many lanes is one of the few.
const fewLanes = 3

// work does jobs on a lane until both channels are closed, or it is not admitted: its own ones first, if there are some. A nil channel has none, and without a function it is always admitted.
func work(ctx context.Context, l *lane, admit func() (bool, error), own, shared <-chan job) error {
	for own != nil || shared != nil {
		if admit != nil {
			if admitted, err := admit(); !admitted {
				return err
			}
		}
		var one job
		var ok bool
		from := &own
		select {
		case one, ok = <-own:
		default:
			select {
			case one, ok = <-own:
			case one, ok = <-shared:
				from = &shared
			}
		}
		if !ok {
			*from = nil
			continue
		}
		if err := one(ctx, l); err != nil {
			return err
		}
	}
	return nil
}
