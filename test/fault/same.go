// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
)

// Variants that have to be known by name.
const (
	tooMany    = "429"
	timeout    = "504"
	killBefore = "kill-before"
	killAfter  = "kill-after"
	lasts      = "lasting"
)

// sameAs says why the variant at an effect is no case of its own: another case brings the manager and the cluster into the same state. The effect
// before it is nil for the first one of a run. It returns nothing for a case that has to be played.
func (v variant) sameAs(e effect, before *effect) string {
	switch {
	case strings.HasPrefix(e.Object, "events.") && v.name != lasts && v.name != killBefore && v.name != killAfter:
		// Events are not part of the state, and "lasting" has the refusals.
		return "client-go sends an event in the background and tells nobody what became of it"
	case v.name == tooMany && before != nil:
		// TestTooManyRequestsIsADelay shows it. The first write of each scenario meets it nevertheless.
		return "client-go sends the request again after a second: that is a delay"
	case v.name == timeout:
		// TestATimeoutWithoutEffectIsAnInternalError shows it.
		return "the manager does not tell it from 500"
	case v.name == killBefore && before != nil && before.Step == e.Step:
		// A manager that dies leaves nothing but what it has written. If nobody else did something in between, it is the same. Both start
		// again with what is there.
		return "it is " + killAfter + " at the effect before it"
	}
	return ""
}

// sameAsSimulated says why the variant at an effect of a scenario on a real host need not be played there: the same scenario with simulated machines, which
// has these effects, meets it too. The manager knows hosts only through drivers, which are held to one contract. So a write that the API server refuses
// while the manager lives is the same to it, wherever its machines are.
func (v variant) sameAsSimulated(e effect, simulated []effect) string {
	if v.refused && !isOnHost(e) && slices.ContainsFunc(simulated, e.isSame) {
		return "it is played with simulated machines"
	}
	return ""
}
