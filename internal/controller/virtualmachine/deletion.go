// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"fmt"
	"time"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// retire decides what to do about an object that is being deleted, in whatever phase it is.
func retire(vm *cloudnativev1alpha1.VirtualMachine, seen observation, now time.Time) decision {
	p := begin(vm, seen, now)
	p.phase = cloudnativev1alpha1.PhaseTerminating
	retain := vm.Spec.DeletionPolicy == cloudnativev1alpha1.DeletionRetain
	switch {
	case seen.op.running():
		p.interrupt(retain)
	case retain:
		p.release = true
		if seen.at.host != "" {
			p.events = []event.Event{retained(vm, seen.at)}
		}
	case seen.at.host == "":
		p.release = true // no driver has ever been called
	case seen.op.ended() && seen.op.reason == cloudnativev1alpha1.ReasonDeleting && seen.op.err == nil:
		p.release = true
	case seen.hostProblem != nil:
		p.outcome = *seen.hostProblem
	default:
		// Also where no machine was seen: what was made besides it goes too.
		p.run(cloudnativev1alpha1.ReasonDeleting, stepRemove)
		p.phase = cloudnativev1alpha1.PhaseTerminating
	}
	return p.decision
}

// interrupt ends an operation that a deletion makes pointless, or that is done in a way which is no longer wanted.
func (p *planner) interrupt(retain bool) {
	op := p.seen.op
	outdated := op.reason != cloudnativev1alpha1.ReasonDeleting || retain || op.generation != p.vm.Generation
	p.cancel = outdated && !op.canceled
	p.outcome = flow.Wait(op.reason, underway(op.operation), 0)
}

// retireMachine is the phase around retire.
func retireMachine(_ context.Context, pass *scope) flow.Outcome {
	pass.decision, pass.settled = retire(pass.vm, pass.seen, pass.now), true
	return flow.Done()
}

// release is the phase that lets the object go.
func (r *Reconciler) release(ctx context.Context, pass *scope) flow.Outcome {
	if !pass.decision.release {
		return flow.Done()
	}
	if pass.vm.Spec.DeletionPolicy == cloudnativev1alpha1.DeletionRetain && pass.seen.at.host != "" {
		// Before the object goes: a sweep must find the machine on the list of those that stay.
		if err := r.retained.add(ctx, pass.vm, pass.seen.at); err != nil {
			return flow.Fail(fmt.Errorf("cannot note that the machine stays: %w", err))
		}
	}
	_, err := patch.RemoveFinalizers(ctx, r.client, pass.vm, cloudnativev1alpha1.Finalizer)
	if err != nil {
		return flow.Fail(err)
	}
	pass.released = true
	return flow.Done()
}
