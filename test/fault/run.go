// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// outcome is how a run ended.
type outcome struct {
	Effects []effect
	// Prepared is the state before the steps that are tested, and State is the end state.
	Prepared, State state
	// Struck is false if the effect of the fault did not happen.
	Struck bool
	// Convergence is how long it took from the last step to the end state.
	Convergence time.Duration
	// Took is how long the whole run took.
	Took     time.Duration
	Findings []finding
	// Log is what the managers of the run have logged.
	Log string
}

// settled is how long nothing may be written before a state is compared, and restTime before it counts as the end of what is done
// where there is nothing to compare with.
const (
	settled  = 300 * time.Millisecond
	restTime = 2 * time.Second
)

// play is one run of a scenario on a stage.
type play struct {
	*stage

	scenario *scenario
	// want is the outcome without a fault, nil for the run that finds it out.
	want *outcome
	// quiet is how long nothing may be written in the end.
	quiet time.Duration
	// before is the state of the lane before the run, and given after the given steps if the end has to be like it.
	before, given snapshot
	givenOnHosts  state
	out           *outcome
}

// play plays a scenario on the lane, with a fault if there is one, and cleans up. The end state is compared with want, if it is
// given. An error is one of the campaign and not of the manager.
func (l *lane) play(ctx context.Context, sc *scenario, f *fault, want *outcome, quiet time.Duration) (*outcome, error) {
	begun := time.Now()
	before, err := l.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	s, err := l.set(ctx, f)
	if err != nil {
		return nil, err
	}
	s.args, s.hasty = slices.Clone(sc.args), sc.hasty
	s.interrupted = f != nil && interrupts(sc, f) || sc.ended && sc.volatile
	p := &play{stage: s, scenario: sc, want: want, quiet: quiet, before: before, out: &outcome{}}
	err = errors.Join(p.perform(ctx), l.cleanUp(ctx, before))
	p.out.Took = time.Since(begun)
	return p.out, err
}

// perform takes the stage from its set-up to its end.
func (p *play) perform(ctx context.Context) error {
	end := func() error { return nil }
	if p.scenario.setUp != nil {
		after, err := p.scenario.setUp(p.stage)
		if err != nil {
			return errors.Join(err, p.clear(ctx))
		}
		end = after
	}
	err := p.act(ctx)
	p.out.Effects, p.out.Struck = p.effects.seen(), p.effects.hasStruck()
	if p.out.Struck {
		p.out.add(checkGuard(p.scenario, p.effects.fault, p.out.Effects))
	}
	if err := p.clear(ctx); err != nil {
		p.out.add(&finding{Class: "broken", Detail: err.Error()})
	}
	for _, promise := range p.brokenPromises() {
		p.out.add(&finding{Class: "twice", Detail: promise})
	}
	p.out.Log = p.log()
	if strings.Contains(p.out.Log, "Observed a panic") || strings.Contains(p.out.Log, "\ngoroutine ") {
		p.out.add(&finding{Class: "panic", Detail: "the log shows a panic"})
	}
	return errors.Join(err, end())
}

// act takes all steps and judges the end.
func (p *play) act(ctx context.Context) (err error) {
	if err := p.take(ctx, p.scenario.given); err != nil {
		p.out.add(&finding{Class: "unprepared", Detail: err.Error()})
		return ctx.Err()
	}
	if p.scenario.undone {
		if p.given, err = p.snapshot(ctx); err != nil {
			return err
		}
		if p.givenOnHosts, err = p.onHosts(ctx); err != nil {
			return err
		}
	}
	if err := p.prepare(ctx); err != nil {
		p.out.add(&finding{Class: "unprepared", Detail: err.Error()})
		return ctx.Err()
	}
	listening, stop := context.WithCancel(ctx)
	defer stop()
	silent := p.listen(listening)
	if err := p.take(ctx, p.scenario.steps); err != nil {
		p.out.add(&finding{Class: "stuck", Detail: err.Error()})
	}
	if err := p.awaitUndone(ctx); err != nil {
		return err
	}
	if err := p.converge(ctx); err != nil {
		return err
	}
	stop()
	p.out.add(<-silent)
	if err := p.rest(ctx); err != nil {
		return err
	}
	return p.checkUndone(ctx)
}

// take takes steps, until one of them fails.
func (p *play) take(ctx context.Context, steps []step) error {
	for _, step := range steps {
		if !step.waits() {
			p.effects.begin()
		}
		if err := step.do(ctx, p.stage); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// prepare starts the manager, takes the steps in which no fault happens, and waits until their effects are over.
func (p *play) prepare(ctx context.Context) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	if err := p.take(ctx, p.scenario.before); err != nil {
		return err
	}
	defer p.effects.arm()
	if len(p.scenario.before) == 0 {
		return nil
	}
	return p.await(ctx, p.prepared)
}

// prepared returns nil when nothing is written any more, which a state that is known from the run without a fault shows sooner.
func (p *play) prepared(ctx context.Context) error {
	last := p.effects.quiet()
	if last < settled || p.want == nil && last < restTime {
		return fmt.Errorf("the last write was %s ago", last)
	}
	now, err := p.snapshot(ctx)
	if err != nil {
		return err
	}
	if p.out.Prepared, err = p.state(ctx, now.since(p.before)); err != nil {
		return err
	}
	if p.want == nil || last >= restTime || reflect.DeepEqual(p.comparable(p.want.Prepared), p.out.Prepared) {
		return nil
	}
	return fmt.Errorf("the last write was %s ago", last)
}

// listen waits until the fault that lasts can have been heard of, and lifts it. It returns a finding if that never happens.
func (p *play) listen(ctx context.Context) <-chan *finding {
	silent := make(chan *finding, 1)
	if p.effects.fault == nil || !p.effects.fault.Variant.lasting {
		silent <- nil
		return silent
	}
	go func() {
		defer p.effects.lift()
		select {
		case <-p.effects.struck:
		case <-ctx.Done():
			silent <- nil
			return
		}
		heard := func(ctx context.Context) error { return p.heard(ctx, p.before) }
		err := p.await(ctx, heard)
		if err != nil { // perhaps only because the run has ended a moment after the fault
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), restTime)
			defer cancel()
			err = p.await(last, heard)
		}
		if err != nil {
			silent <- &finding{Class: "silent", Detail: err.Error()}
			return
		}
		silent <- nil
	}()
	return silent
}
