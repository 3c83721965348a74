// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
)

// scenario is what happens in a run, apart from the fault. To add one, add it to the table of its kind: the campaign finds out by
// itself what the manager writes in it.
type scenario struct {
	// name is the kind, a slash, and what happens: "nodepool/created".
	name string
	// given are steps before the manager starts, and before are steps that it takes part in, before a fault can happen.
	given, before []step
	// steps are what is tested. The last ones should wait for the end, so that a run that gets stuck is described by what it waits
	// for.
	steps []step
	// undone is set where everything has to be in the end as the given steps have made it. Other ends are right if they are those of
	// the run without a fault.
	undone bool
	// guarded is an object whose finalizer has to be written before anything of guards, which are beginnings of effects' objects.
	guarded string
	guards  []string
	// args are more arguments of the manager.
	args []string
	// missing says what the scenario needs and the machine does not have, empty if it can be played.
	missing string
	// slow says that what fails is tried again only after ten seconds, as on hosts and by tools. Such a scenario is left out where only
	// some are played.
	slow bool
	// local says that the end is another one on each lane, because paths and addresses of the lane are in it.
	local bool
	// volatile says that machines end with the manager, so that they are started again after it was killed.
	volatile bool
	// halts says that machines are off for a time. One that is lost then is not made again.
	halts bool
	// suspends says that machines are suspended, and are not started again if what was in their memory is lost.
	suspends bool
	// dated says that a person sets a time. It is as early or late as Windlass' clock is wrong, which nothing can mend.
	dated bool
	// ended says that the disturbance around its steps can end managers.
	ended bool
	// repeats says that its last step, and what it waits for, are those of another scenario.
	repeats bool
	// hasty says that it is left to chance whether a machine has run before it is deleted.
	hasty bool
	// setUp, if there is one, adds to the stage before the manager starts, and returns what to do after it has ended.
	setUp func(s *stage) (end func() error, err error)
	// skews says that a manager with a wrong clock is needed.
	skews bool
	// alone is set for one that is a fault of its own: no other is added to it.
	alone bool
}

// bears reports whether the scenario has to end as without the variant: a machine that is to be off, and is lost with the manager that
// simulated it, is rightly reported as lost; and so is what a suspended machine had in its memory when its host was killed.
func (sc *scenario) bears(v variant) bool {
	if sc.suspends && strings.HasPrefix(v.name, "crash-host") {
		return false
	}
	return !sc.halts || !sc.volatile || !strings.HasPrefix(v.name, "kill-")
}

// bearsDisturbance is the same for a disturbance.
func (sc *scenario) bearsDisturbance(d *disturbance) bool {
	return (!sc.halts || !sc.volatile || !d.ends) && (!sc.dated || !d.skews)
}

// matches says whether a name stands for the scenario: its own, or that of its kind.
func (sc *scenario) matches(name string) bool {
	return sc.name == name || strings.HasPrefix(sc.name, name+"/")
}
