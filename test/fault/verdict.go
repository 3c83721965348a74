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

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/test/rig"
)

// converge waits until the state is as in the run without a fault, or without such a run until nothing changes any more.
func (p *play) converge(ctx context.Context) error {
	begun, limit := time.Now(), settled
	if p.want == nil {
		limit = restTime
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := rig.Until(waiting, settled, func(ctx context.Context) error {
		if last := p.effects.quiet(); last < limit {
			return fmt.Errorf("the last write was %s ago", last)
		}
		after, err := p.snapshot(ctx)
		if err != nil {
			return err
		}
		wanted := p.out.State
		if p.want != nil {
			wanted = p.want.State
		}
		now, err := p.state(ctx, after.since(p.before))
		if err != nil {
			return err
		}
		p.out.State = now
		if !reflect.DeepEqual(p.comparable(wanted), now) {
			return errors.New("the state is not the end state")
		}
		return nil
	})
	p.out.Convergence = time.Since(begun)
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case p.want == nil || p.out.State == nil:
		p.out.add(&finding{Class: "restless", Detail: err.Error()})
	default:
		p.compare()
	}
	return nil
}

// compare adds what is different from the run without a fault.
func (p *play) compare() {
	for key := range p.out.State {
		if _, ok := p.want.State[key]; !ok {
			p.out.add(&finding{Class: "leak", Detail: key})
		}
	}
	p.out.add(&finding{Class: "divergence", Detail: cmp.Diff(p.comparable(p.want.State), p.out.State)})
}

// rests is how often a run may show that it had not come to its end yet.
const rests = 3

// rest waits for a time in which nothing may be written. What still has to come shows that the end was taken for reached too early: then the
// run has to reach it, and to rest, once more.
func (p *play) rest(ctx context.Context) error {
	for round := 1; ; round++ {
		count := len(p.effects.seen())
		select {
		case <-time.After(p.quiet):
		case <-ctx.Done():
		}
		before, late := p.effects.seen()[:count], p.effects.seen()[count:]
		late = slices.DeleteFunc(late, p.effects.isLateEvent)
		expected := !slices.ContainsFunc(late, func(e effect) bool { return !p.isToCome(e, before) })
		if err := ctx.Err(); err != nil || len(late) == 0 {
			return err
		}
		if !expected || round == rests {
			for _, e := range late {
				p.out.add(&finding{Class: "write at rest", Detail: e.String()})
			}
			return nil
		}
		if err := p.converge(ctx); err != nil {
			return err
		}
	}
}

// isToCome reports whether an effect may come after the state is as it has to be. A manager that was killed may not have looked yet at
// machines that ended, so that their state is that of the end until it has; and one that began again with old caches goes on as soon as these catch up. An event is not part of the state: after a lost answer, it comes
// with the next pass. The event that the fault has struck is sent again by client-go after seconds. Where the fault is that a write comes late,
// and the scenario ends as it begins, nothing has begun until then.
func (p *play) isToCome(e effect, before []effect) bool {
	if p.interrupted || p.scenario.ended {
		return true
	}
	slow := p.effects.fault != nil && p.effects.fault.Variant.slow
	if p.want == nil || !slow && !e.isEvent() {
		return false
	}
	is := func(other effect) bool { return other.Verb == e.Verb && other.Object == e.Object }
	count := func(in []effect) (n int) {
		for _, other := range in {
			if is(other) {
				n++
			}
		}
		return n
	}
	already := count(before)
	if slow && p.effects.fault.Variant.refused && is(p.effects.fault.Effect) {
		already-- // the one that was refused
	}
	return already < count(p.want.Effects)
}

// checkGuard returns a finding if something happened before a finalizer that could not be written at first.
func checkGuard(sc *scenario, f *fault, seen []effect) *finding {
	if f == nil || sc.guarded == "" || f.Effect.Object != sc.guarded || f.Effect.Nth != 1 || !f.Variant.refused {
		return nil
	}
	for _, e := range seen[slices.IndexFunc(seen, f.Effect.isSame)+1:] {
		if e.Verb == f.Effect.Verb && e.Object == sc.guarded {
			return nil
		}
		if slices.ContainsFunc(sc.guards, func(prefix string) bool { return strings.HasPrefix(e.Object, prefix) }) {
			return &finding{Class: "unguarded", Detail: fmt.Sprintf("%s came before the finalizer of %s", e, sc.guarded)}
		}
	}
	return nil
}

// awaitUndone waits until nothing is left, if that is how the scenario has to end: the cluster's own garbage collector takes its time with
// what belonged to a deleted object. What stays is for checkUndone to tell.
func (p *play) awaitUndone(ctx context.Context) error {
	if !p.scenario.undone {
		return nil
	}
	_ = p.await(ctx, func(ctx context.Context) error {
		left, err := p.leftovers(ctx)
		if err == nil && left != "" {
			err = errors.New("something is left")
		}
		return err
	})
	return ctx.Err()
}

// checkUndone adds what is left at the end, if nothing may be.
func (p *play) checkUndone(ctx context.Context) error {
	if !p.scenario.undone {
		return nil
	}
	left, err := p.leftovers(ctx)
	if left != "" {
		p.out.add(&finding{Class: "leak", Detail: left})
	}
	return err
}

// leftovers compares the present state with what was given, and returns the difference. Who owned which fields in the meantime does not
// matter, and the Lease stays.
func (p *play) leftovers(ctx context.Context) (string, error) {
	after, err := p.snapshot(ctx)
	if err != nil {
		return "", err
	}
	for _, all := range []snapshot{p.given, after} {
		delete(all, "leases.coordination.k8s.io/"+rig.Namespace+"/"+rig.LeaseName)
		for key, object := range all {
			all[key] = object.DeepCopy()
			all[key].SetManagedFields(nil)
		}
	}
	diff := ""
	if left := after.since(p.given); len(left) > 0 {
		diff = cmp.Diff(p.given.since(after), left)
	}
	left, err := p.onHosts(ctx)
	if err != nil {
		return "", err
	}
	return diff + cmp.Diff(p.givenOnHosts, left), nil
}
