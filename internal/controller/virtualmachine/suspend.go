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
	"github.com/windlass-operator/windlass/internal/machine/operation"
)

// suspended reports what the status has to say about whose suspension it is. It is told in the status before a machine is suspended:
// whatever crashes in between, a machine that Windlass has suspended is never taken for one that a person has.
func (p *planner) suspended() bool {
	was := keptSuspended(p.vm)
	wanted := strategyOf(p.vm) == cloudnativev1alpha1.RunSuspended
	switch p.seen.found.State {
	case machine.StateRunning:
		return wanted
	case machine.StatePaused:
		return was || wanted || p.suspendedLate()
	case machine.StateCreated, machine.StateStopped:
		return was && wanted // the record of a suspension that ended with the host
	default:
		return was
	}
}

// suspendedLate reports whether the machine may be suspended because an instance that was killed has asked for it, and the host does so only now.
// Nobody wants that any more, and no person would know that they have to end it.
func (p *planner) suspendedLate() bool {
	return !p.seen.unkept.IsZero() && p.now.Sub(p.seen.unkept) < machine.Settling
}

// keptSuspended reports whether an earlier pass has recorded that Windlass keeps the machine suspended.
func keptSuspended(vm *cloudnativev1alpha1.VirtualMachine) bool {
	return vm.Status.Server != nil && vm.Status.Server.Suspended
}

// suspend suspends a machine that runs.
func (p *planner) suspend() {
	if !keptSuspended(p.vm) {
		p.record(cloudnativev1alpha1.ReasonSuspending, "the record that Windlass suspends the machine")
		return
	}
	p.phase = cloudnativev1alpha1.PhaseActive
	p.run(cloudnativev1alpha1.ReasonSuspending, operation.Suspend)
}

// keepSuspended reconciles a machine that is suspended.
func (p *planner) keepSuspended() {
	switch strategy := strategyOf(p.vm); {
	case strategy == cloudnativev1alpha1.RunHalted:
		p.run(cloudnativev1alpha1.ReasonStopping, operation.Stop)
	case strategy == cloudnativev1alpha1.RunSuspended:
		p.phase = cloudnativev1alpha1.PhaseSuspended
		p.clear()
		p.postpone()
	case !p.ours:
		what := "somebody to resume the machine, which was suspended on its host"
		if cause := p.seen.found.Cause; cause != "" {
			what = "somebody to remove the cause, and then to resume the machine, which its host has suspended: " + cause
		}
		p.phase = cloudnativev1alpha1.PhaseStopped
		p.outcome = flow.Wait(cloudnativev1alpha1.ReasonHeld, what, lastBackoff)
	case !keptSuspended(p.vm):
		p.record(cloudnativev1alpha1.ReasonResuming, "the record that Windlass has suspended the machine")
	default:
		p.run(cloudnativev1alpha1.ReasonResuming, operation.Resume)
	}
}

// record waits until the status tells whose suspension it is.
func (p *planner) record(reason, what string) {
	p.phase = cloudnativev1alpha1.PhaseActive
	p.outcome = flow.Wait(reason, what, 0)
	p.wake = time.Millisecond // The status of this pass is the record.
}

// notSuspended describes a machine that is to be suspended and is off. Windlass does not start it: what was in its memory is gone, and
// a person has to know that.
func (p *planner) notSuspended() {
	p.phase = cloudnativev1alpha1.PhaseStopped
	p.clear()
	p.postpone()
	text := "the machine is off, and only one that runs can be suspended"
	if p.ours {
		text = "the machine was suspended and is off now, as after a restart of its host, so that what was in its memory is lost"
	}
	text += ". Set runStrategy to Always to start it, or to Halted if it is to stay off"
	p.outcome = flow.Stall(cloudnativev1alpha1.ReasonNotSuspended, errors.New(text))
	if told := powerOf(p.vm); told == nil || told.Reason != cloudnativev1alpha1.ReasonNotSuspended {
		p.events = append(p.events, failed(p.vm, cloudnativev1alpha1.ReasonNotSuspended, text))
	}
}

// postpone leaves all changes of the spec to the next run of the machine.
func (p *planner) postpone() {
	p.replace(false)
	have, want := p.seen.found.Resources, p.seen.spec.Resources
	if sameSize(have, want) {
		return
	}
	p.pending = cloudnativev1alpha1.ReasonResizePending
	p.pendingText = fmt.Sprintf("the machine has %s and gets %s when it runs again", sizeText(have), sizeText(want))
	p.keepSize(p.pending, p.pendingText)
}
