// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"errors"
	"fmt"
	"time"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
)

// keep looks after a machine that exists: its power first, then what it is made of, then its size.
func (p *planner) keep() {
	switch p.seen.found.State {
	case machine.StateRunning:
		p.keepRunning()
	case machine.StateCreated, machine.StateStopped:
		p.keepOff()
	case machine.StatePaused:
		if strategyOf(p.vm) == cloudnativev1alpha1.RunHalted {
			p.run(cloudnativev1alpha1.ReasonStopping, stepStop)
			return
		}
		p.phase = cloudnativev1alpha1.PhaseStopped
		p.outcome = flow.Wait(cloudnativev1alpha1.ReasonHeld, "whoever suspended the machine on its host to resume it", lastBackoff)
	case machine.StateStopping:
		p.phase = p.vm.Status.Phase
		p.outcome = flow.Wait(cloudnativev1alpha1.ReasonStopping, "the machine to be off", firstBackoff)
	default:
		p.phase = cloudnativev1alpha1.PhaseUnknown
		p.outcome = flow.Wait(cloudnativev1alpha1.ReasonStarting, "the host to say what the machine does", firstBackoff)
	}
}

func (p *planner) keepRunning() {
	if strategyOf(p.vm) == cloudnativev1alpha1.RunHalted {
		p.run(cloudnativev1alpha1.ReasonStopping, stepStop)
		return
	}
	recovery := p.recover()
	p.phase = cloudnativev1alpha1.PhaseActive
	if p.restartDue() {
		p.hurry()
		p.restart()
		return
	}
	if p.replace(updatePolicyOf(p.vm) == cloudnativev1alpha1.UpdateRestart) || p.resize() {
		return
	}
	// Nothing is to be done but, perhaps, at a certain time. What has failed before is no longer wanted.
	if p.failure != nil && !ended(p.failure.Reason) {
		p.failure = nil
	}
	p.trouble = ""
	p.wake = soonest(recovery, p.untilRestart())
}

// recover forgets the end of a machine that has run since for as long as the longest backoff, and returns when to look again
// whether it has.
func (p *planner) recover() time.Duration {
	if p.failure == nil || !ended(p.failure.Reason) {
		return 0
	}
	if p.failure.RetryAfter != nil {
		if wait := p.failure.RetryAfter.Add(lastBackoff).Sub(p.now); wait > 0 {
			return wait
		}
	}
	p.clear()
	return 0
}

// hurry is for a restart that the user asks for: it does not wait because the machine has ended before. It does wait where the
// restart itself has failed.
func (p *planner) hurry() {
	if p.failure != nil && ended(p.failure.Reason) {
		p.failure.RetryAfter = nil
	}
}

// restartDue reports whether a restart that the user wants has to be done. One before the machine was last started has been.
func (p *planner) restartDue() bool {
	if !p.asked() {
		return false
	}
	at := p.vm.Spec.RestartAt
	if started := p.seen.found.StartedAt; !started.IsZero() && !started.Before(at.Time) {
		p.served = at
		return false
	}
	return true
}

// untilRestart returns how long it is until a restart is due, 0 if none is.
func (p *planner) untilRestart() time.Duration {
	if at := p.vm.Spec.RestartAt; at != nil && p.now.Before(at.Time) {
		return at.Sub(p.now)
	}
	return 0
}

// restart turns the machine off and on, and brings with it what waits for that.
func (p *planner) restart() {
	switch {
	case p.changed() && p.seen.capabilities().Containers:
		p.run(cloudnativev1alpha1.ReasonReplacing, replacing...)
	case !sameSize(p.seen.found.Resources, p.seen.spec.Resources):
		p.run(cloudnativev1alpha1.ReasonRestarting, stepStop, stepResize, stepStart)
	default:
		p.run(cloudnativev1alpha1.ReasonRestarting, stepStop, stepStart)
	}
}

// replacing gives a container what only a new one can have. The image comes first: as long as it cannot be had, the old one stays.
var replacing = []step{stepPrepare, stepRemove, stepCreate, stepStart} //nolint:gochecknoglobals // because it is a constant list

// changed reports whether the machine is made from something else than the spec says.
func (p *planner) changed() bool {
	return p.seen.secretProblem == nil && p.seen.found.SpecHash != "" && p.seen.found.SpecHash != p.seen.spec.Hash
}

// replace sees to what a machine is made from, and reports whether that is all that this pass does.
func (p *planner) replace(now bool) bool {
	switch {
	case !p.changed():
		return false
	case !p.seen.capabilities().Containers:
		p.pending = cloudnativev1alpha1.ReasonRecreateRequired
		p.pendingText = "what the guest was made from has changed, and it keeps what it has: only a new VirtualMachine gets the rest"
		return false
	case now:
		p.run(cloudnativev1alpha1.ReasonReplacing, replacing...)
		return true
	default:
		p.pending = cloudnativev1alpha1.ReasonSpecChanged
		p.pendingText = "what the container was made from has changed: the next restart makes a new one, with an empty writable layer"
		return false
	}
}

// resize sees to the size of a machine that runs, and reports whether that is all that this pass does.
func (p *planner) resize() bool {
	have, want := p.seen.found.Resources, p.seen.spec.Resources
	policy := updatePolicyOf(p.vm)
	switch {
	case sameSize(have, want):
		return false
	case policy == cloudnativev1alpha1.UpdateManual || p.refused() && policy == cloudnativev1alpha1.UpdateLive:
		if p.pending == "" {
			p.pending = cloudnativev1alpha1.ReasonResizePending
		}
		if p.pendingText == "" {
			p.pendingText = fmt.Sprintf("the machine has %s, and gets %s with the next restart", sizeText(have), sizeText(want))
		}
		return false
	case p.refused():
		p.run(cloudnativev1alpha1.ReasonRestarting, stepStop, stepResize, stepStart)
	default:
		p.run(cloudnativev1alpha1.ReasonResizing, stepResize)
	}
	p.pending, p.pendingText = "", ""
	return true
}

// keepOff looks after a machine that is off: it is started if it shall run.
func (p *planner) keepOff() {
	found := p.seen.found
	strategy := strategyOf(p.vm)
	asked := strategy != cloudnativev1alpha1.RunHalted && p.restartDue()
	if strategy != cloudnativev1alpha1.RunHalted && p.ran() && found.State == machine.StateStopped && !asked {
		p.crash(strategy)
	}
	switch {
	case strategy == cloudnativev1alpha1.RunHalted:
		p.halted()
	case asked:
		p.hurry()
		p.turnOn()
	case found.State == machine.StateStopped && !again(strategy, found):
		p.completed(strategy)
	default:
		p.turnOn()
	}
}

// ran reports whether the machine has run since the last pass, and was not turned off by us.
func (p *planner) ran() bool {
	was := p.vm.Status.Server
	return p.began || !p.stopped && was != nil && was.State == stateText(machine.StateRunning)
}

// crash counts that a machine has ended which is to be started again.
func (p *planner) crash(strategy cloudnativev1alpha1.RunStrategy) {
	if again(strategy, p.seen.found) {
		p.fail(cloudnativev1alpha1.ReasonCrashed, ending(p.seen.found))
	}
}

// again reports whether a machine that has ended is started again.
func again(strategy cloudnativev1alpha1.RunStrategy, found *machine.Observed) bool {
	switch strategy {
	case cloudnativev1alpha1.RunAlways:
		return true
	case cloudnativev1alpha1.RunRerunOnFailure:
		return broke(found)
	default:
		return false
	}
}

// broke reports whether a machine has ended with an error.
func broke(found *machine.Observed) bool {
	return found.Cause != "" || found.ExitCode != nil && *found.ExitCode != 0
}

// turnOn starts the machine, as the spec now describes it.
func (p *planner) turnOn() {
	switch {
	case p.changed() && p.seen.capabilities().Containers:
		p.run(cloudnativev1alpha1.ReasonReplacing, replacing...)
	case !sameSize(p.seen.found.Resources, p.seen.spec.Resources):
		p.run(cloudnativev1alpha1.ReasonStarting, stepResize, stepStart)
	default:
		p.run(cloudnativev1alpha1.ReasonStarting, stepStart)
	}
}

// halted is about a machine that is off, and shall be.
func (p *planner) halted() {
	p.phase = cloudnativev1alpha1.PhaseStopped
	if sameSize(p.seen.found.Resources, p.seen.spec.Resources) {
		p.clear()
		p.replace(false)
		return
	}
	if updatePolicyOf(p.vm) == cloudnativev1alpha1.UpdateManual {
		p.resize()
		return
	}
	p.run(cloudnativev1alpha1.ReasonResizing, stepResize)
	if p.next == nil {
		p.phase = cloudnativev1alpha1.PhaseStopped
	}
}

// completed is about a machine that has ended and is not started again.
func (p *planner) completed(strategy cloudnativev1alpha1.RunStrategy) {
	p.replace(false)
	if broke(p.seen.found) {
		p.failure, p.trouble = nil, clip(ending(p.seen.found))
		p.phase = cloudnativev1alpha1.PhaseFailed
		p.outcome = flow.Stall(cloudnativev1alpha1.ReasonCrashed, errors.New(p.trouble+"; runStrategy "+string(strategy)+" starts it no more"))
		return
	}
	p.clear()
	p.phase = cloudnativev1alpha1.PhaseStopped
	p.wake = p.untilRestart()
}

// soonest returns the shorter of two waits, where 0 is none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
