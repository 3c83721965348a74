// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// Variants that have to be known by name.
const (
	tooMany    = "429"
	timeout    = "504"
	killBefore = "kill-before"
	killAfter  = "kill-after"
	lasts      = "lasting"
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
		return "events are sent one like the other: the first one of each scenario meets it"
	case e.isEvent() && v.name != lasts && v.name != killBefore:
		// "lasting" has the refusals.
		return "client-go sends an event in the background and tells nobody what became of it"
	case v.name == tooMany && len(before) > 0:
		// TestTooManyRequestsIsADelay shows it. The first write of each scenario meets it nevertheless.
		return "client-go sends the request again after a second: that is a delay"
	case v.name == timeout:
		// TestATimeoutWithoutEffectIsAnInternalError shows it.
		return "the manager does not tell it from 500"
	case v.name == killBefore && follows:
		return "it is " + killAfter + " at the effect before it"
	}
	return ""
}

// sameAsSimulated says why the variant at a write of a scenario on a real host need not be played there: the same scenario with simulated machines, which
// has these effects, meets it too. The manager knows hosts only through drivers, which are held to one contract. So what becomes of a write to the
// API server is the same to it wherever its machines are, as long as it lives. What the next one finds on a host, it finds through that host's driver.
func (v variant) sameAsSimulated(e effect, simulated []effect) string {
	kills := v.name == killBefore || v.name == killAfter
	if !kills && !isOnHost(e) && slices.ContainsFunc(simulated, e.isSame) {
		return "it is played with simulated machines"
	}
	return ""
}
