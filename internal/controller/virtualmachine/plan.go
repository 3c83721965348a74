// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
)

// The rhythm of attempts: 10 s × n², at most 300 s. A machine that has run for as long as that after a crash has got over it.
const (
	firstBackoff = 10 * time.Second
	lastBackoff  = 300 * time.Second
)

// decision is what a pass has to do, and what it has to say.
type decision struct {
	// next is the operation to start, nil for none.
	next *operation
	// cancel ends the operation that goes on.
	cancel bool
	// release lets the object go: its machine is gone, or stays behind on purpose.
	release bool

	// failure and trouble become status.startFailure and status.reason.
	failure *cloudnativev1alpha1.StartFailure
	trouble string
	// served becomes status.lastRestartTime, nil for no change.
	served *metav1.Time
	// restarted says that the machine has been started again since the last pass.
	restarted bool
	// pending is the reason why a change of the spec waits for a restart, empty for none, with what there is to say.
	pending, pendingText string

	phase   cloudnativev1alpha1.Phase
	outcome flow.Outcome
	// wake is when to look again although nothing is to be done now, 0 for when something happens.
	wake   time.Duration
	events []event.Event
}

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
	// removed says that an operation has removed the machine since the last pass, or may have.
	removed bool
}

// decide is the phase around plan.
func decide(_ context.Context, pass *scope) flow.Outcome {
	if pass.seen.hostProblem != nil {
		return *pass.seen.hostProblem
	}
	pass.decision, pass.settled = plan(pass.vm, pass.seen, pass.now), true
	return flow.Done()
}

// plan decides what to do about an object that shall have a machine.
func plan(vm *cloudnativev1alpha1.VirtualMachine, seen observation, now time.Time) decision {
	p := begin(vm, seen, now)
	switch {
	case seen.op.running():
		p.follow()
	case seen.found == nil:
		p.provision()
	default:
		p.keep()
	}
	return p.decision
}

// begin takes over what earlier passes have written down, and how the last operation ended.
func begin(vm *cloudnativev1alpha1.VirtualMachine, seen observation, now time.Time) *planner {
	p := &planner{vm: vm, seen: seen, now: now}
	p.failure, p.trouble = vm.Status.StartFailure.DeepCopy(), vm.Status.Reason
	if p.failure != nil && vm.Status.ObservedGeneration != vm.Generation {
		// Somebody has changed the spec: what failed before may succeed now, and is tried at once. Only that a machine was lost
		// stays true.
		p.failure.Count, p.failure.RetryAfter = 0, nil
		if p.failure.Reason != cloudnativev1alpha1.ReasonInstanceLost {
			p.clear()
		}
	}
	if seen.op.ended() {
		p.settle(*seen.op)
	}
	return p
}

// settle takes in how an operation ended.
func (p *planner) settle(op progress) {
	p.removed = op.has(stepRemove)
	p.stopped = p.removed || op.has(stepStop)
	switch {
	case op.err == nil:
		p.succeed(op)
	case op.canceled && (errors.Is(op.err, context.Canceled) || errors.Is(op.err, machine.ErrUnreachable)):
		// What was ended on purpose is no failure.
	case errors.Is(op.err, machine.ErrRestartRequired):
		p.pending, p.pendingText = cloudnativev1alpha1.ReasonResizePending, op.err.Error()
	default:
		p.fail(reasonOf(op.at, op.err), op.err.Error())
	}
}

func (p *planner) succeed(op progress) {
	p.trouble = ""
	if p.failure != nil && !ended(p.failure.Reason) {
		p.failure = nil
	}
	if op.has(stepStart) {
		p.began = true
		p.restarted = op.again
		if at := p.vm.Spec.RestartAt; at != nil && !op.began.Before(at.Time) {
			p.served = at
		}
	}
	p.events = append(p.events, succeeded(p.vm, p.seen.at, op)...)
}

// fail counts a failure and says when to try again.
func (p *planner) fail(reason, text string) {
	count := int32(1)
	if p.failure != nil {
		count = p.failure.Count + 1
	}
	wait := backoff(count)
	if permanent(reason) {
		wait = flow.RecheckStalled
	}
	retry := metav1.NewTime(p.now.Add(wait).Truncate(time.Second))
	p.failure = &cloudnativev1alpha1.StartFailure{Count: count, RetryAfter: &retry, Reason: reason}
	p.trouble = clip(text)
	p.events = append(p.events, failed(p.vm, reason, p.trouble))
}

// clear forgets failures: all is well.
func (p *planner) clear() { p.failure, p.trouble = nil, "" }

// backoff is how long to wait after that many failures in a row.
func backoff(count int32) time.Duration {
	n := min(max(count, 1), 6) // the sixth is beyond the cap
	return min(time.Duration(n*n)*firstBackoff, lastBackoff)
}

// ended reports whether the reason is that of a machine which was started, and has ended or gone.
func ended(reason string) bool {
	return reason == cloudnativev1alpha1.ReasonCrashed || reason == cloudnativev1alpha1.ReasonInstanceLost
}

// permanent reports whether trying again is of little use.
func permanent(reason string) bool {
	switch reason {
	case cloudnativev1alpha1.ReasonInvalidSpec, cloudnativev1alpha1.ReasonUnsupported, cloudnativev1alpha1.ReasonNameTaken:
		return true
	}
	return false
}

// reasonOf says in one word why a step failed.
func reasonOf(at step, err error) string {
	switch {
	case errors.Is(err, machine.ErrImageNotFound):
		return cloudnativev1alpha1.ReasonImageNotFound
	case errors.Is(err, machine.ErrImagePull):
		return cloudnativev1alpha1.ReasonImagePullFailed
	case errors.Is(err, machine.ErrConflict):
		return cloudnativev1alpha1.ReasonNameTaken
	case errors.Is(err, machine.ErrInvalid):
		return cloudnativev1alpha1.ReasonInvalidSpec
	case errors.Is(err, machine.ErrUnsupported):
		return cloudnativev1alpha1.ReasonUnsupported
	case errors.Is(err, machine.ErrNoCapacity):
		return cloudnativev1alpha1.ReasonNoCapacity
	}
	switch at {
	case stepPrepare:
		return cloudnativev1alpha1.ReasonImagePullFailed
	case stepCreate:
		return cloudnativev1alpha1.ReasonCreateFailed
	case stepStop:
		return cloudnativev1alpha1.ReasonStopFailed
	case stepResize:
		return cloudnativev1alpha1.ReasonResizeFailed
	case stepRemove:
		return cloudnativev1alpha1.ReasonDeleteFailed
	case stepStart:
	}
	return cloudnativev1alpha1.ReasonStartFailed
}

// follow waits for an operation that goes on. One that fetches an image or turns a machine off may take long: it is ended when the
// spec has changed since, and the next pass decides anew.
func (p *planner) follow() {
	op := p.seen.op
	patient := op.at == stepPrepare || op.at == stepStop
	p.cancel = patient && op.generation != p.vm.Generation && !op.canceled
	p.under(op.operation)
}

// under says that an operation goes on.
func (p *planner) under(op operation) {
	switch op.reason {
	case cloudnativev1alpha1.ReasonDeleting:
		p.phase = cloudnativev1alpha1.PhaseTerminating
	case cloudnativev1alpha1.ReasonResizing, cloudnativev1alpha1.ReasonStopping:
		p.phase = p.vm.Status.Phase
	default:
		p.phase = cloudnativev1alpha1.PhaseCreating
	}
	p.outcome = flow.Wait(op.reason, underway(op), 0)
}

// run decides on the next operation, unless a failure demands patience.
func (p *planner) run(reason string, steps ...step) {
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
	if p.seen.found != nil && reason != cloudnativev1alpha1.ReasonReplacing {
		spec.Resources.RootDiskBytes = p.seen.found.Resources.RootDiskBytes // which stays as it was made
	}
	p.next = &operation{
		reason: reason, steps: steps, spec: spec, how: powerOffOf(p.vm), generation: p.vm.Generation,
		again: p.seen.found != nil && p.seen.found.State != machine.StateCreated,
	}
	p.under(*p.next)
}

// backingOff reports whether the next attempt is not due yet, and says so.
func (p *planner) backingOff() bool {
	if p.failure == nil || p.failure.RetryAfter == nil || !p.now.Before(p.failure.RetryAfter.Time) {
		return false
	}
	reason := p.failure.Reason
	switch {
	case reason == cloudnativev1alpha1.ReasonImageNotFound || reason == cloudnativev1alpha1.ReasonImagePullFailed:
		p.phase = cloudnativev1alpha1.PhaseImagePullBackOff
	case ended(reason):
		p.phase = cloudnativev1alpha1.PhaseCrashLoopBackOff
	case p.seen.found != nil && p.seen.found.State == machine.StateRunning:
		p.phase = cloudnativev1alpha1.PhaseActive
	default:
		p.phase = cloudnativev1alpha1.PhaseFailed
	}
	if p.vm.DeletionTimestamp != nil {
		p.phase = cloudnativev1alpha1.PhaseTerminating
	}
	if permanent(reason) {
		p.outcome = flow.Stall(reason, errors.New(p.trouble))
		return true
	}
	text := fmt.Sprintf("the next attempt, after %s", attempts(p.failure.Count))
	if p.trouble != "" {
		text += ": " + p.trouble
	}
	p.outcome = flow.Wait(reason, text, p.failure.RetryAfter.Sub(p.now))
	return true
}

// provision makes a machine, or says why there is none.
func (p *planner) provision() {
	known := p.vm.Status.Server != nil && p.vm.Status.Server.ID != ""
	if known && !p.removed {
		p.fail(cloudnativev1alpha1.ReasonInstanceLost, fmt.Sprintf("the machine %q is gone from host %q, and not by our doing",
			p.vm.Status.Server.Name, p.seen.at.host))
	}
	lost := p.failure != nil && p.failure.Reason == cloudnativev1alpha1.ReasonInstanceLost
	strategy := strategyOf(p.vm)
	if lost && (strategy == cloudnativev1alpha1.RunHalted || strategy == cloudnativev1alpha1.RunOnce && !p.asked()) {
		p.phase = cloudnativev1alpha1.PhaseFailed
		p.outcome = flow.Stall(cloudnativev1alpha1.ReasonInstanceLost, fmt.Errorf("%s; runStrategy %s makes no new one", p.trouble, strategy))
		return
	}
	steps := []step{stepPrepare, stepCreate}
	if strategy != cloudnativev1alpha1.RunHalted {
		steps = append(steps, stepStart)
	}
	p.run(cloudnativev1alpha1.ReasonProvisioning, steps...)
	if p.next != nil {
		p.next.again = lost
	}
}

// asked reports whether the user wants a restart that has not been served, now.
func (p *planner) asked() bool {
	at := p.vm.Spec.RestartAt
	if at == nil || p.served != nil || p.now.Before(at.Time) {
		return false
	}
	return p.vm.Status.LastRestartTime == nil || p.vm.Status.LastRestartTime.Before(at)
}

// refused reports whether the host has said of this very spec that the size takes effect with a restart only.
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
