// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// disturbance is a fault that does not belong to one write: what the manager sees is old, or a part of the control plane is away. It
// happens around each step by which a person changes something. The end state must be that of the scenario without it.
type disturbance struct {
	name, about string
	// around returns what happens instead of a step.
	around func(d *disturbed, change step) []step
	// skews says that a manager with a wrong clock is needed.
	skews bool
	// ends says that the manager can end with it: it is killed, or does not reach the API server for longer than its Lease. kills says that it is killed.
	ends, kills bool
}

// disturbed is what disturbances share in a run. It is set up with the stage.
type disturbed struct {
	lag *lag
	// wrong says that the clock is wrong after the step that was disturbed last.
	wrong bool
}

// blind is how long a manager works with old caches: long enough for it to do all the harm that it can.
const blind = 1500 * time.Millisecond

// disturbances are all of them.
func disturbances() []disturbance {
	return []disturbance{
		{name: "stale", about: "the caches are behind while something changes, and catch up later", around: stale(false)},
		{name: "merged", about: "the same, and the caches never see the states in between", around: stale(true)},
		{name: "travel", about: "the manager is killed after each change, and begins again with caches from before it", around: travel, ends: true, kills: true},
		{name: "api-killed", about: "the API server is killed after each change, and started again", around: killed(apiServer), ends: true},
		{name: "api-stopped", about: "the API server stands still for seconds after each change", around: stopped(apiServer), ends: true},
		{name: "etcd-killed", about: "etcd is killed after each change, and started again", around: killed(etcd), ends: true},
		{name: "etcd-stopped", about: "etcd stands still for seconds after each change", around: stopped(etcd), ends: true},
		{name: "etcd-full", about: "etcd refuses what needs space for seconds after each change", around: full, ends: true},
		{name: "clock-ahead", about: "the manager is killed after each change, and begins again with a clock that is an hour ahead, and then with a right one", around: skewedBy(skew), ends: true, kills: true, skews: true},
		{name: "clock-behind", about: "the same with a clock that is an hour behind", around: skewedBy(-skew), ends: true, kills: true, skews: true},
	}
}

// disturb returns the scenario with the disturbance around its steps.
func (d disturbance) disturb(sc scenario) scenario {
	shared := &disturbed{}
	inner := sc.setUp
	sc.setUp = func(s *stage) (func() error, error) {
		shared.lag = newLag(s.proxy)
		if inner == nil {
			return func() error { return nil }, nil
		}
		return inner(s)
	}
	var steps []step
	for _, each := range sc.steps {
		if each.waits() {
			steps = append(steps, each)
			continue
		}
		steps = append(steps, d.around(shared, each)...)
	}
	sc.steps, sc.ended = steps, d.ends
	return sc
}

func stale(merged bool) func(*disturbed, step) []step {
	return func(d *disturbed, change step) []step {
		return []step{
			{"hold the caches back", func(context.Context, *stage) error { d.lag.hold(); return nil }},
			change,
			pause(blind),
			{"let the caches catch up", func(context.Context, *stage) error { d.lag.release(merged); return nil }},
		}
	}
}

// travel lets the manager react to a change before it takes it back in time.
func travel(d *disturbed, change step) []step {
	var version string
	return []step{
		{"note the time", func(ctx context.Context, s *stage) error {
			list := &corev1.ConfigMapList{}
			err := s.Client.List(ctx, list, client.InNamespace("kube-public"))
			version = list.ResourceVersion
			return err
		}},
		change,
		pause(blind), // so that much is done that the next manager does not see
		{"go back in time", func(ctx context.Context, s *stage) error {
			d.lag.travel(version)
			s.crash(ctx)
			return s.failed
		}},
		{"wait until the manager works", awaitManager},
		pause(blind),
		{"return to the present with all kinds but those of Windlass", func(context.Context, *stage) error { d.lag.catchUp(); return nil }},
		pause(blind / 3),
		{"return to the present", func(context.Context, *stage) error { d.lag.release(false); return nil }},
	}
}

func killed(component string) func(*disturbed, step) []step {
	return func(_ *disturbed, change step) []step {
		return []step{change, {"kill " + component, func(ctx context.Context, s *stage) error {
			return errors.Join(s.killComponent(ctx, component), s.revive(ctx))
		}}}
	}
}

// standstill is how long a component stands still: long for a request, and short for a lease.
const standstill = 4 * time.Second

func stopped(component string) func(*disturbed, step) []step {
	return func(_ *disturbed, change step) []step {
		return []step{change, {"stop " + component, func(ctx context.Context, s *stage) error {
			return errors.Join(s.freezeComponent(ctx, component, standstill), s.revive(ctx))
		}}}
	}
}

// full raises the alarm that etcd raises when its database has reached its quota, or its disk is full: it still answers and deletes, and refuses what
// needs space.
func full(_ *disturbed, change step) []step {
	return []step{change, {"fill etcd", func(ctx context.Context, s *stage) error {
		err := s.registry.alarm(ctx, etcdserverpb.AlarmRequest_ACTIVATE)
		if err == nil {
			err = pause(standstill).do(ctx, s)
		}
		err = errors.Join(err, s.registry.alarm(context.WithoutCancel(ctx), etcdserverpb.AlarmRequest_DEACTIVATE))
		return errors.Join(err, s.heal(ctx), s.revive(ctx))
	}}}
}

// skewedBy lets the manager be killed after each change, and begin again with a wrong clock. After the next change its clock is right again, so that
// it meets times in objects that are still to come, or long gone.
func skewedBy(by time.Duration) func(*disturbed, step) []step {
	return func(d *disturbed, change step) []step {
		d.wrong = !d.wrong
		now := time.Duration(0)
		if d.wrong {
			now = by
		}
		return []step{
			change,
			pause(blind / 3),
			{"set the clock", func(ctx context.Context, s *stage) error {
				s.setClock(now)
				s.crash(ctx)
				return s.failed
			}},
			{"wait until the manager works", awaitManager},
			pause(blind), // tokens that are old by the new clock are renewed, once
		}
	}
}

// pause lets the manager work for a time.
func pause(long time.Duration) step {
	return step{fmt.Sprintf("pause for %s", long), func(ctx context.Context, _ *stage) error {
		select {
		case <-time.After(long):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

// chosenDisturbances returns the disturbances of these names, all without a name.
func chosenDisturbances(names []string) []disturbance {
	return slices.DeleteFunc(disturbances(), func(d disturbance) bool { return len(names) > 0 && !slices.Contains(names, d.name) })
}

// awaitManager waits until the manager has filled its caches.
func awaitManager(ctx context.Context, s *stage) error {
	return s.await(ctx, func(ctx context.Context) error {
		return s.manager.Load().Probe(ctx, "/readyz")
	})
}
