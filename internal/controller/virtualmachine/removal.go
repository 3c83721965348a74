// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"time"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine/operation"
)

// planRemoval decides what to do about an object that is being deleted, in whatever phase it is.
func planRemoval(vm *cloudnativev1alpha1.VirtualMachine, seen observation, now time.Time) decision {
	p := begin(vm, seen, now)
	p.phase = cloudnativev1alpha1.PhaseTerminating
	tried := seen.op.Ended() && seen.op.Reason == cloudnativev1alpha1.ReasonDeleting
	switch {
	case seen.op.Running():
		p.interrupt()
	case tried && seen.op.Err == nil:
		p.release = true
	case seen.at.Host == "":
		p.release = true // no driver has ever been called
	case leavesMachine(vm) && (tried || !wasNeverMade(vm, seen)):
		p.release, p.retain = true, true
		p.events = []event.Event{retained(vm, seen.at)}
	case seen.hostProblem != nil:
		p.outcome = *seen.hostProblem
	default:
		// Also if no machine was observed: what was made besides it has to go, too.
		p.run(cloudnativev1alpha1.ReasonDeleting, operation.Remove)
		p.phase = cloudnativev1alpha1.PhaseTerminating
	}
	return p.decision
}

// wasNeverMade reports whether there is no machine that could stay, as the host says, but at most what was prepared for one. Nobody has ever used that.
func wasNeverMade(vm *cloudnativev1alpha1.VirtualMachine, seen observation) bool {
	return seen.looked && seen.found == nil && !wasMade(vm) && len(vm.Status.Disks) == 0
}

// interrupt cancels an operation that the deletion makes pointless, or that does what is no longer wanted. A removal that the spec wants goes on, also
// with Retain: it is of what was prepared for a machine that was never made.
func (p *planner) interrupt() {
	op := p.seen.op
	outdated := op.Reason != cloudnativev1alpha1.ReasonDeleting || op.Generation != p.vm.Generation
	p.cancel = outdated && !op.Canceled
	p.outcome = flow.Wait(op.Reason, underway(op.Operation), 0)
}
