// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

// outcome is how a run ended.
type outcome struct {
	Effects []effect
	State   state
	Events  map[string]string
	// Struck is false if the effect of the fault did not happen.
	Struck bool
	// Convergence is how long it took from the last step to the end state.
	Convergence time.Duration
	Findings    []finding
	// Log is what the managers of the run have logged.
	Log string
}

// settled is how long nothing may be written before a state is compared, and restTime before it counts as the end of what is done
// where there is nothing to compare with.
const (
	settled  = 300 * time.Millisecond
	restTime = 2 * time.Second
)

// play plays a scenario on the lane, with a fault if there is one, and cleans up. The end state is compared with want, if it is
// given. An error is one of the campaign and not of the manager.
func (l *lane) play(ctx context.Context, sc *scenario, f *fault, want *outcome, quiet time.Duration) (*outcome, error) {
	before, err := l.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	s, err := l.set(f)
	if err != nil {
		return nil, err
	}
	s.args = sc.args
	out := &outcome{}
	err = s.perform(ctx, sc, before, want, quiet, out)
	return out, errors.Join(err, l.cleanUp(ctx, before))
}

func (s *stage) perform(
	ctx context.Context, sc *scenario, before snapshot, want *outcome, quiet time.Duration, out *outcome,
) (err error) {
	if sc.setUp != nil {
		clear, err := sc.setUp(s)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, clear()) }()
	}
	for _, step := range sc.given {
		if err := step.do(ctx, s); err != nil {
			return errors.Join(fmt.Errorf("cannot prepare %s: %s: %w", sc.name, step.name, err), s.clear())
		}
	}
	if err := s.start(ctx); err != nil {
		return errors.Join(err, s.clear())
	}
	if err := s.prepare(ctx, sc.before); err != nil {
		return errors.Join(fmt.Errorf("cannot prepare %s: %w; the log of the manager:\n%s", sc.name, err, s.log()), s.clear())
	}
	listening, stop := context.WithCancel(ctx)
	silent := s.listen(listening, before)
	s.act(ctx, sc, out)
	err = s.converge(ctx, before, want, out)
	stop()
	out.add(<-silent)
	if err == nil {
		s.rest(ctx, quiet, out)
		out.Events, err = s.events(ctx)
	}
	out.Effects, out.Struck = s.effects.seen(), s.effects.hasStruck()
	if ended := s.clear(); ended != nil {
		out.add(&finding{Class: "broken", Detail: ended.Error()})
	}
	out.Log = s.log()
	if strings.Contains(out.Log, "Observed a panic") || strings.Contains(out.Log, "\ngoroutine ") {
		out.add(&finding{Class: "panic", Detail: "the log shows a panic"})
	}
	return err
}

// prepare takes steps in which no fault happens, and waits until their effects are over.
func (s *stage) prepare(ctx context.Context, steps []step) error {
	for _, step := range steps {
		if err := step.do(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	defer s.effects.arm()
	if len(steps) == 0 {
		return nil
	}
	return s.await(ctx, func(context.Context) error {
		if last := s.effects.quiet(); last < restTime {
			return fmt.Errorf("the last write was %s ago", last)
		}
		return nil
	})
}

// listen waits until the fault that lasts can have been heard of, and lifts it. It returns a finding if that never happens.
func (s *stage) listen(ctx context.Context, before snapshot) <-chan *finding {
	silent := make(chan *finding, 1)
	if s.effects.fault == nil || !s.effects.fault.Variant.lasting {
		silent <- nil
		return silent
	}
	go func() {
		defer s.effects.lift()
		select {
		case <-s.effects.struck:
		case <-ctx.Done():
			silent <- nil
			return
		}
		err := s.await(ctx, func(ctx context.Context) error { return s.heard(ctx, before) })
		if err != nil {
			silent <- &finding{Class: "silent", Detail: err.Error()}
			return
		}
		silent <- nil
	}()
	return silent
}

// act takes the steps. A step that fails ends them, and is a finding.
func (s *stage) act(ctx context.Context, sc *scenario, out *outcome) {
	for _, step := range sc.steps {
		if err := step.do(ctx, s); err != nil {
			out.add(&finding{Class: "stuck", Detail: step.name + ": " + err.Error()})
			return
		}
	}
}

// converge waits until the state is as in the run without a fault, or without such a run until nothing changes any more.
func (s *stage) converge(ctx context.Context, before snapshot, want, out *outcome) error {
	begun, limit := time.Now(), settled
	if want == nil {
		limit = restTime
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := rig.Until(waiting, settled, func(ctx context.Context) error {
		if last := s.effects.quiet(); last < limit {
			return fmt.Errorf("the last write was %s ago", last)
		}
		after, err := s.snapshot(ctx)
		if err != nil {
			return err
		}
		wanted := out.State
		if want != nil {
			wanted = want.State
		}
		if out.State = after.since(before); !reflect.DeepEqual(wanted, out.State) {
			return errors.New("the state is not the end state")
		}
		return nil
	})
	out.Convergence = time.Since(begun)
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case want == nil || out.State == nil:
		out.add(&finding{Class: "restless", Detail: err.Error()})
	default:
		out.compare(want)
	}
	return nil
}

// compare adds what is different from the run without a fault.
func (o *outcome) compare(want *outcome) {
	for key := range o.State {
		if _, ok := want.State[key]; !ok {
			o.add(&finding{Class: "leak", Detail: key})
		}
	}
	o.add(&finding{Class: "divergence", Detail: cmp.Diff(want.State, o.State)})
}

// rest waits for a time in which nothing may be written.
func (s *stage) rest(ctx context.Context, quiet time.Duration, out *outcome) {
	count := len(s.effects.seen())
	select {
	case <-time.After(quiet):
	case <-ctx.Done():
	}
	for _, e := range s.effects.seen()[count:] {
		out.add(&finding{Class: "write at rest", Detail: e.String()})
	}
}

// cleanUp deletes what a run has left, so that the lane is as it was before.
func (l *lane) cleanUp(ctx context.Context, before snapshot) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := rig.Until(ctx, settled, func(ctx context.Context) error {
		after, err := l.snapshot(ctx)
		if err != nil {
			return err
		}
		var left []string
		for key, object := range after {
			if was, ok := before[key]; ok && was.GetUID() == object.GetUID() {
				continue
			}
			left = append(left, key)
			if len(object.GetFinalizers()) > 0 {
				patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
				if err := client.IgnoreNotFound(l.Client.Patch(ctx, object, patch)); err != nil {
					return err
				}
			}
			if err := client.IgnoreNotFound(l.Client.Delete(ctx, object, client.GracePeriodSeconds(0))); err != nil {
				return err
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("these are left: %s", strings.Join(left, ", "))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot clean up: %w", err)
	}
	return l.deleteEvents(ctx)
}
