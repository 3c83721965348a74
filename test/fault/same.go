// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
)

// Variants that have to be known by name.
const (
	tooMany    = "429"
	timeout    = "504"
	killBefore = "kill-before"
	killAfter  = "kill-after"
	cut        = "cut"
	lateAnswer = "late-504"
	lasts      = "lasting"
	internal   = "500"
)

// sameAs says why the variant at an effect is no case of its own: another case brings the manager and the cluster into the same state. Before are the
// effects of the run before it. It returns nothing for a case that has to be played.
func (v variant) sameAs(e effect, before []effect) string {
	// A manager that dies leaves nothing but what it has written. If nobody else did something in between, it is the same. Both start again with what
	// is there.
	follows := len(before) > 0 && before[len(before)-1].Step == e.Step
	switch {
	case e.isEvent() && v.name == killAfter:
		return "it is " + killBefore + ": events are not part of the state"
	case e.isEvent() && v.name == lasts && slices.ContainsFunc(before, effect.isEvent):
		return "events are sent one like the other: the first one meets it"
	case e.isEvent() && v.name != lasts && v.name != killBefore:
		// "lasting" has the refusals.
		return "client-go sends an event in the background and tells nobody what became of it"
	case v.name == tooMany && len(before) > 0:
		// TestTooManyRequestsIsADelay shows it. Even so, one scenario of each kind meets it, at its first write.
		return "client-go sends the request again after a second: that is a delay"
	case v.name == internal && len(before) > 0:
		// The first write of each scenario meets both. It is often a finalizer, and nothing may happen before one that was refused has been written.
		return "it is the beginning of lasting, which ends as soon as somebody can have heard of it"
	case (v.name == cut || v.name == lateAnswer) && !isOnHost(e) && slices.ContainsFunc(before, e.isLike):
		// Whether a write took effect, and whether the API server or the connection says that it failed: each write meets both of both, with "lost" and
		// "lasting", and the first write of each sort in a scenario meets all four.
		return "lost and lasting have what it is made of"
	case v.name == late && !isOnHost(e) && slices.ContainsFunc(before, e.isLike):
		return "the first write of its sort meets it: the next one waits for its answer in the same place"
	case v.name == timeout:
		// TestATimeoutWithoutEffectIsAnInternalError shows it.
		return "the manager does not tell it from 500"
	case v.name == killBefore && follows:
		return "it is " + killAfter + " at the effect before it"
	}
	return ""
}

// sameAsPeer says why the variant need not be played at an effect: it is played at the same write to an object that is like this one. The run, whose effects
// are given, does the same to both in the same steps, so that only their names tell them apart. A manager that is killed after the first one of them leaves
// another state than after the second one.
func (v variant) sameAsPeer(e effect, run []effect) string {
	if v.kills() || isOnHost(e) || e.isEvent() {
		return ""
	}
	for _, other := range run {
		if other.isSame(e) {
			break
		}
		if other.Step == e.Step && other.Verb == e.Verb && other.Nth == e.Nth && isPeer(e, other, run) {
			return "it is played at " + other.Object
		}
	}
	return ""
}

// sameAsEarlier says why the variant need not be played at an effect of a scenario: one of the same kind, which comes before it, meets it, and what becomes of it
// is the work of a library, whichever scenario it is. That is so for requests that client-go sends again, and for events.
func (v variant) sameAsEarlier(e effect, earlier []*row) string {
	if isOnHost(e) || !e.isEvent() && v.name != tooMany || e.isEvent() && v.name != lasts {
		return ""
	}
	for _, r := range earlier {
		for i, other := range r.Effects {
			if other.isEvent() == e.isEvent() && v.appliesTo(other) && r.scenario.bears(v) &&
				cmp.Or(r.scenario.sameAsFirst(other, r.Effects), v.sameAs(other, r.Effects[:i])) == "" {
				return "it is played in " + r.Scenario
			}
		}
	}
	return ""
}

// isPeer reports whether two effects are on the same part of two objects of a kind to which a run does the same.
func isPeer(a, b effect, run []effect) bool {
	kind, name, part := a.object()
	otherKind, otherName, otherPart := b.object()
	if kind != otherKind || part != otherPart || name == otherName {
		return false
	}
	done := func(to string) (all []string) {
		for _, e := range run {
			if eachKind, each, eachPart := e.object(); eachKind == kind && each == to {
				all = append(all, fmt.Sprintf("%d %s %s %d", e.Step, e.Verb, eachPart, e.Nth))
			}
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(done(name), done(otherName))
}

// sameAsFirst says why no fault at an effect need be played in a scenario that ends as another one begins: what it repeats is played there.
func (sc *scenario) sameAsFirst(e effect, run []effect) string {
	if sc.repeats && e.Step == run[len(run)-1].Step {
		return "it is played where nothing was there before"
	}
	return ""
}

// kills reports whether the manager is killed.
func (v variant) kills() bool {
	return v.name == killBefore || v.name == killAfter || v.name == killLate
}

// sameAsSimulated says why the variant at a write of a scenario on a real host need not be played there: the same scenario with simulated machines, which
// is that row, meets it too. The manager knows hosts only through drivers, which are held to one contract. So what becomes of a write to the
// API server is the same to it wherever its machines are, as long as it lives. What the next one finds on a host, it finds through that host's driver.
func (v variant) sameAsSimulated(e effect, simulated *row) string {
	if simulated != nil && !v.kills() && !isOnHost(e) && slices.ContainsFunc(simulated.Effects, e.isSame) {
		return "it is played with simulated machines"
	}
	return ""
}

// sameAsSimulated is the same for a disturbance that the manager outlives.
func (d disturbance) sameAsSimulated(simulated *row) string {
	if simulated != nil && !d.kills && simulated.scenario.bearsDisturbance(&d) {
		return "it is played with simulated machines"
	}
	return ""
}
