// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"fmt"
	"time"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/clock"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/status"
)

// keep reconciles a machine that exists: its power first, then what it was created from, then its size.
func (p *planner) keep() {
	switch p.seen.found.State {
	case machine.StateRunning:
		p.keepRunning()
	case machine.StateCreated, machine.StateStopped:
		p.keepOff()
	case machine.StatePaused:
		p.keepSuspended()
	case machine.StateStopping:
		p.phase = p.vm.Status.Phase
		reason := cloudnativev1alpha1.ReasonStopping
		if switching(p.vm) == cloudnativev1alpha1.ReasonRestarting {
			reason = cloudnativev1alpha1.ReasonRestarting // the stop of an ended manager: the record of it stays until the machine is off
		}
		p.outcome = flow.Wait(reason, "the machine to be off", firstBackoff)
	default:
		p.phase = cloudnativev1alpha1.PhaseUnknown
		p.outcome = flow.Wait(cloudnativev1alpha1.ReasonStarting, "the host to report the state of the machine", firstBackoff)
	}
}

func (p *planner) keepRunning() {
	switch strategyOf(p.vm) {
	case cloudnativev1alpha1.RunHalted:
		p.run(cloudnativev1alpha1.ReasonStopping, operation.Stop)
		return
	case cloudnativev1alpha1.RunSuspended:
		p.suspend()
		return
	default:
	}
	recovery := p.recover()
	p.phase = cloudnativev1alpha1.PhaseActive
	p.wake = soonest(recovery, p.untilRestart())
	if p.restartDue() {
		p.hurry()
		p.restart()
		return
	}
	if p.replace(updatePolicyOf(p.vm) == cloudnativev1alpha1.UpdateRestart) || p.resize() {
		return
	}
	// There is nothing to do, except perhaps at a certain time. What failed before is no longer wanted.
	if p.failure != nil && !ended(p.failure.Reason) {
		p.failure = nil
	}
	p.trouble = ""
}

// recover clears the crash of a machine that has run for the longest backoff since. Otherwise it returns when to check again.
func (p *planner) recover() time.Duration {
	if p.failure == nil || !ended(p.failure.Reason) {
		return 0
	}
	if p.failure.RetryAfter != nil {
		if wait := clock.Left(p.failure.RetryAfter.Add(lastBackoff), 2*lastBackoff, p.now); wait > 0 {
			return wait
		}
	}
	p.clear()
	return 0
}

// hurry is for a restart that the user asks for: it does not wait because of an earlier crash. It does wait if the restart itself
// has failed.
func (p *planner) hurry() {
	if p.failure != nil && ended(p.failure.Reason) {
		p.failure.RetryAfter = nil
	}
}

// restartDue reports whether a restart that the user wants is due. If the machine was started after that time, it is done. A start that was still to come
// when the host answered says nothing: the clock of the machine's host is ahead.
func (p *planner) restartDue() bool {
	if !p.asked() {
		return false
	}
	at := p.vm.Spec.RestartAt
	if started := p.seen.found.StartedAt; !started.IsZero() && !started.Before(at.Time) && !started.After(p.seen.answered) {
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

// restart turns the machine off and on, and applies the changes that wait for a restart. A guest gets the size that it has, too: an earlier spec may have
// left another one for its next start.
func (p *planner) restart() {
	switch {
	case p.changed() && p.seen.capabilities().Containers:
		p.recreate()
	case !p.seen.capabilities().Containers || !sameSize(p.seen.found.Resources, p.seen.spec.Resources):
		p.run(cloudnativev1alpha1.ReasonRestarting, operation.Stop, operation.Resize, operation.Start)
	default:
		p.run(cloudnativev1alpha1.ReasonRestarting, operation.Stop, operation.Start)
	}
}

// recreate replaces a container by one that the changed spec describes. As long as the image cannot be fetched or the host refuses the
// new container, the old one stays.
func (p *planner) recreate() {
	p.run(cloudnativev1alpha1.ReasonReplacing, operation.Prepare, operation.Replace, operation.Start)
}

// replace reconciles what a machine is created from, and reports whether this pass does nothing else.
func (p *planner) replace(now bool) bool {
	switch {
	case !p.changed():
		return false
	case !p.seen.capabilities().Containers:
		p.pending = cloudnativev1alpha1.ReasonRecreateRequired
		p.pendingText = "the spec has changes that an existing guest cannot get: create a new VirtualMachine to apply them"
		return false
	case now:
		p.recreate()
		return true
	default:
		p.pending = cloudnativev1alpha1.ReasonSpecChanged
		p.pendingText = "the spec has changes that take a new container: the next restart replaces it, with an empty writable layer"
		return false
	}
}

// resize reconciles the size of a running machine, and reports whether this pass does nothing else.
func (p *planner) resize() bool {
	have, want := p.seen.found.Resources, p.seen.spec.Resources
	policy := updatePolicyOf(p.vm)
	recovering := p.failure != nil && ended(p.failure.Reason)
	switch {
	case sameSize(have, want):
		return false
	case policy == cloudnativev1alpha1.UpdateManual || p.refused() && policy == cloudnativev1alpha1.UpdateLive:
		if p.pending == "" {
			p.pending = cloudnativev1alpha1.ReasonResizePending
		}
		if p.pendingText == "" {
			p.pendingText = fmt.Sprintf("the machine has %s and gets %s with the next restart", sizeText(have), sizeText(want))
		}
		p.keepSize(p.pending, p.pendingText)
		return false
	case p.refusal != nil && p.refused():
		p.pending = cloudnativev1alpha1.ReasonResizePending // a restart did not help, and is not repeated
		p.keepSize(p.pending, p.pendingText)
		return true
	case p.refusal != nil && recovering:
		// The next attempt would count as another failure to start.
		p.outcome = flow.Wait(p.refusal.reason, "the machine to recover before the next resize: "+p.refusal.message, 0)
		return true
	case p.refused():
		p.run(cloudnativev1alpha1.ReasonRestarting, operation.Stop, operation.Resize, operation.Start)
	default:
		p.run(cloudnativev1alpha1.ReasonResizing, operation.Resize)
	}
	p.pending, p.pendingText = "", ""
	return true
}

// keepOff reconciles a machine that is off.
func (p *planner) keepOff() {
	found := p.seen.found
	strategy := strategyOf(p.vm)
	asked := starts(strategy) && p.restartDue()
	owed := p.owed()
	if starts(strategy) {
		p.wake = p.untilRestart() // A restart waits for no back-off, so the next look does not either.
	}
	if starts(strategy) && p.ran() && found.State == machine.StateStopped && !asked && !owed {
		p.crash(strategy)
	}
	switch {
	case strategy == cloudnativev1alpha1.RunHalted:
		p.halted()
	case strategy == cloudnativev1alpha1.RunSuspended:
		p.notSuspended()
	case asked:
		p.hurry()
		p.turnOn()
	case found.State == machine.StateStopped && !again(strategy, found) && !owed:
		p.completed(strategy)
	default:
		p.turnOn()
	}
}

// crash counts that a machine has ended that will be started again. Failures of something else do not count.
func (p *planner) crash(strategy cloudnativev1alpha1.RunStrategy) {
	if !again(strategy, p.seen.found) {
		return
	}
	if p.failure != nil && !ended(p.failure.Reason) {
		p.failure = nil
	}
	reason := cloudnativev1alpha1.ReasonStopped
	if broke(p.seen.found) {
		reason = cloudnativev1alpha1.ReasonCrashed
	}
	p.fail(reason, ending(p.seen.found))
}

// again reports whether the strategy starts a machine again that has ended.
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

// turnOn starts the machine as the spec describes it now.
func (p *planner) turnOn() {
	switch {
	case !isRecorded(p.vm, p.seen.found, p.now):
		p.phase = cloudnativev1alpha1.PhaseCreating
		p.outcome = flow.Wait(cloudnativev1alpha1.ReasonProvisioning, "the record of its disks", 0)
		p.wake = time.Millisecond // The status of this pass is the record.
	case p.changed() && p.seen.capabilities().Containers && !p.unreplaced:
		p.recreate()
	case p.outsized() && !p.unreplaced:
		p.run(cloudnativev1alpha1.ReasonStarting, operation.Resize, operation.Start)
	default:
		p.run(cloudnativev1alpha1.ReasonStarting, operation.Start)
	}
}

// halted reconciles a machine that is off and has to be.
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
	p.run(cloudnativev1alpha1.ReasonResizing, operation.Resize)
	if p.next == nil {
		p.phase = cloudnativev1alpha1.PhaseStopped
	}
}

// completed describes a machine that has ended and is not started again. What has changed waits for its next start.
func (p *planner) completed(strategy cloudnativev1alpha1.RunStrategy) {
	p.postpone()
	if broke(p.seen.found) {
		p.failure, p.trouble = nil, status.Clip(ending(p.seen.found), maxReason)
		p.phase = cloudnativev1alpha1.PhaseFailed
		p.outcome = flow.Stall(cloudnativev1alpha1.ReasonCrashed, fmt.Errorf("%s; runStrategy is %s: the machine is not started again", p.trouble, strategy))
		return
	}
	p.clear()
	p.finished = true
	p.phase = cloudnativev1alpha1.PhaseStopped
}

// soonest returns the shorter of two waits, where 0 is none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
