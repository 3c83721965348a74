// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
)

// planner is the state of one planning.
type planner struct {
	decision

	vm   *cloudnativev1alpha1.VirtualMachine
	seen observation
	now  time.Time
	// began says that an operation has started the machine since the last pass.
	began bool
	// stopped says that an operation has turned the machine off since the last pass, or may have.
	stopped bool
	// halfway says that an operation has turned the machine off since the last pass, or may have, and has not turned it on.
	halfway bool
	// cut says that a start has failed and the host cannot tell whether the machine has run since: it may have recorded a run that never began.
	cut bool
	// removed says that an operation has removed the machine since the last pass, or may have.
	removed bool
	// unreplaced says that an operation could not replace the machine, which is off, so that it starts as it is.
	unreplaced bool
}

// begin takes over what earlier passes have recorded, and how the last operation ended.
func begin(vm *cloudnativev1alpha1.VirtualMachine, seen observation, now time.Time) *planner {
	p := &planner{vm: vm, seen: seen, now: now}
	p.failure, p.trouble = vm.Status.StartFailure.DeepCopy(), vm.Status.Reason
	if p.failure != nil && vm.Status.ObservedGeneration != vm.Generation {
		// The spec has changed: what failed before may succeed now and is tried at once. A lost machine remains lost.
		p.failure.Count, p.failure.RetryAfter = 0, nil
		if p.failure.Reason != cloudnativev1alpha1.ReasonInstanceLost {
			p.clear()
		}
	}
	p.refusal = refusalOf(vm, seen)
	p.restarted = p.startedLater()
	if seen.op.Ended() {
		p.settle(*seen.op)
	}
	return p
}

// settle takes into account how an operation ended.
func (p *planner) settle(op operation.Progress) {
	p.removed = op.Has(operation.Remove)
	p.stopped = p.removed || op.Has(operation.Stop) || op.Has(operation.Replace)
	// Until the image is there, nothing is turned off.
	p.halfway = p.stopped && (op.Err != nil || !op.Has(operation.Start)) && op.At != operation.Prepare
	if p.cutOff(op) {
		p.cut, p.restarted = true, false
	}
	switch {
	case op.Err == nil:
		p.succeed(op)
	case op.Canceled && (errors.Is(op.Err, context.Canceled) || errors.Is(op.Err, machine.ErrUnreachable)):
		// An operation that was canceled on purpose has not failed.
	case op.Generation != p.vm.Generation:
		// It was for another spec. This one is tried at once, as after every change.
		p.events = append(p.events, failed(p.vm, reasonOf(op.At, op.Err), op.Err.Error()))
	case errors.Is(op.Err, machine.ErrRestartRequired):
		p.pending, p.pendingText = cloudnativev1alpha1.ReasonResizePending, op.Err.Error()
	case op.At == operation.Resize && p.seen.found != nil && !errors.Is(op.Err, machine.ErrUnreachable):
		p.refuse(op)
	case p.survives(op):
		p.unreplaced = true
		p.events = append(p.events, failed(p.vm, reasonOf(op.At, op.Err), op.Err.Error()))
	case errors.Is(op.Err, machine.ErrDiskLost):
		p.fail(cloudnativev1alpha1.ReasonDiskLost, op.Err.Error()+
			": restore it, or set spec.remakeDisksBefore to the current time to have it made again without its data")
	default:
		p.fail(reasonOf(op.At, op.Err), op.Err.Error())
	}
}

// cutOff reports whether the operation has failed at the start of a machine that is off without an exit code. A host without such codes records a run before
// it starts the machine, and keeps that record if the connection breaks between the two. A machine that did run, and has ended since, looks the same.
func (p *planner) cutOff(op operation.Progress) bool {
	found := p.seen.found
	return op.Err != nil && op.At == operation.Start && found != nil && found.State == machine.StateStopped && found.ExitCode == nil
}

// survives reports whether an operation that was to replace a machine has left it turned off, as after a crash. It starts as it is: a
// change of the spec must not turn the next crash into an outage.
func (p *planner) survives(op operation.Progress) bool {
	replacing := op.Reason == cloudnativev1alpha1.ReasonReplacing && (op.At == operation.Prepare || op.At == operation.Replace)
	found := p.seen.found
	return replacing && found != nil && found.State == machine.StateStopped && p.changed() && !errors.Is(op.Err, machine.ErrUnreachable)
}

func (p *planner) succeed(op operation.Progress) {
	p.trouble = ""
	if p.failure != nil && !ended(p.failure.Reason) {
		p.failure = nil
	}
	p.began = op.Has(operation.Start) || op.Has(operation.Resume)
	if op.Has(operation.Start) {
		p.restarted = p.restarted || op.Again
		if at := p.vm.Spec.RestartAt; at != nil && !op.Began.Before(at.Time) {
			p.served = at
		}
	}
	p.events = append(p.events, succeeded(p.vm, p.seen.at, op)...)
}

// run decides on the next operation, unless a failure requires to wait.
func (p *planner) run(reason string, steps ...operation.Step) {
	if p.backingOff() {
		return
	}
	if p.seen.secretProblem != nil && (reason == cloudnativev1alpha1.ReasonProvisioning || reason == cloudnativev1alpha1.ReasonReplacing) {
		p.phase = cloudnativev1alpha1.PhasePending
		p.trouble = p.seen.secretProblem.text
		p.outcome = flow.Wait(p.seen.secretProblem.reason, p.seen.secretProblem.text, recheckSecret)
		return
	}
	spec := p.seen.spec
	p.next = &operation.Operation{
		Reason: reason, Steps: steps, Spec: spec, PowerOff: powerOffOf(p.vm), Generation: p.vm.Generation,
		Again: p.startedBefore(),
	}
	p.under(*p.next, steps[0])
}

// changed reports whether the machine was created from something else than the spec says.
func (p *planner) changed() bool {
	return p.seen.secretProblem == nil && p.seen.found.SpecHash != "" && p.seen.found.SpecHash != p.seen.spec.Hash
}

// startedBefore reports whether the machine has run before, perhaps as another container.
func (p *planner) startedBefore() bool {
	was, found := p.vm.Status.Server, p.seen.found
	return was != nil && was.StartedAt != nil || found != nil && found.State != machine.StateCreated
}

// startedLater reports whether the host says that the machine was started since the last pass. The answer to a start can be lost, and
// others can start a machine too.
func (p *planner) startedLater() bool {
	was, found := p.vm.Status.Server, p.seen.found
	return was != nil && was.StartedAt != nil && found != nil && found.StartedAt.Truncate(time.Second).After(was.StartedAt.Time)
}

// under describes an operation that is running, at that step.
func (p *planner) under(op operation.Operation, at operation.Step) {
	switch {
	case op.Reason == cloudnativev1alpha1.ReasonDeleting:
		p.phase = cloudnativev1alpha1.PhaseTerminating
	case op.Reason == cloudnativev1alpha1.ReasonResizing, op.Reason == cloudnativev1alpha1.ReasonStopping,
		op.Reason == cloudnativev1alpha1.ReasonSuspending, op.Reason == cloudnativev1alpha1.ReasonResuming:
		p.phase = p.vm.Status.Phase
	case op.Reason == cloudnativev1alpha1.ReasonReplacing && at == operation.Prepare && p.vm.Status.Phase == cloudnativev1alpha1.PhaseActive:
		p.phase = cloudnativev1alpha1.PhaseActive // the old container runs until the image is there
	default:
		p.phase = cloudnativev1alpha1.PhaseCreating
	}
	p.outcome = flow.Wait(op.Reason, underway(op), 0)
}

// asked reports whether the user wants a restart now that has not been done.
func (p *planner) asked() bool {
	at := p.vm.Spec.RestartAt
	if at == nil || p.served != nil || p.now.Before(at.Time) {
		return false
	}
	return p.vm.Status.LastRestartTime == nil || p.vm.Status.LastRestartTime.Before(at)
}

// refused reports whether the host has said of this very spec that the size takes effect only with a restart.
func (p *planner) refused() bool {
	if p.pending == cloudnativev1alpha1.ReasonResizePending {
		return true
	}
	condition := apimeta.FindStatusCondition(p.vm.Status.Conditions, cloudnativev1alpha1.ConditionRestartRequired)
	if condition == nil || condition.Status != metav1.ConditionTrue || condition.ObservedGeneration != p.vm.Generation ||
		condition.Reason != cloudnativev1alpha1.ReasonResizePending {
		return false
	}
	p.pendingText = condition.Message
	return true
}
