// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine/operation"
)

// decision is what a pass has to do and to report.
type decision struct {
	// next is the operation to start, nil for none.
	next *operation.Operation
	// cancel cancels the running operation.
	cancel bool
	// release lets the object go: its machine is gone, or stays on purpose.
	release bool
	// retain says that its machine stays.
	retain bool

	// failure and trouble become status.startFailure and status.reason.
	failure *cloudnativev1alpha1.StartFailure
	trouble string
	// served becomes status.lastRestartTime, nil for no change.
	served *metav1.Time
	// restarted says that the machine was started again since the last pass.
	restarted bool
	// finished says that the machine has ended in order and is not started again.
	finished bool
	// pending is the reason why a change of the spec waits for a restart, empty for none. pendingText is its message.
	pending, pendingText string

	// ours says that Windlass has suspended the machine, or is about to. It becomes status.server.suspended.
	ours bool

	// refusal is why the host refuses the size, nil if it does not. It becomes the condition ResourcesSynced.
	refusal *refusal

	phase   cloudnativev1alpha1.Phase
	outcome flow.Outcome
	// wake is when to check again although there is nothing to do now, 0 for only when something happens.
	wake   time.Duration
	events []event.Event
}

// plan decides what to do about an object that is not being deleted.
func plan(vm *cloudnativev1alpha1.VirtualMachine, seen observation, now time.Time) decision {
	p := begin(vm, seen, now)
	switch {
	case seen.op.Running():
		p.follow()
	case seen.found == nil:
		p.provision()
	default:
		p.ours = p.suspended()
		p.keep()
	}
	if seen.tooLarge != nil {
		p.refusal = seen.tooLarge
		if p.next == nil && p.outcome.IsDone() {
			p.outcome = flow.Wait(seen.tooLarge.reason, "room on the host: "+seen.tooLarge.message, recheckPlace)
		}
	}
	return p.decision
}

// follow waits for a running operation. To fetch an image or to turn a machine off, as a replacement does, may take long: such a step is canceled if the
// spec has changed since, and the next pass decides again.
func (p *planner) follow() {
	op := p.seen.op
	patient := op.At == operation.Prepare || op.At == operation.Stop || op.At == operation.Replace
	p.cancel = patient && op.Generation != p.vm.Generation && !op.Canceled
	p.under(op.Operation, op.At)
}

// provision creates a machine, or says why there is none.
func (p *planner) provision() {
	known := p.vm.Status.Server != nil && p.vm.Status.Server.ID != ""
	if known && !p.removed {
		p.fail(cloudnativev1alpha1.ReasonInstanceLost, fmt.Sprintf("machine %q has disappeared from host %q; Windlass did not remove it",
			p.vm.Status.Server.Name, p.seen.at.Host))
	}
	lost := p.failure != nil && p.failure.Reason == cloudnativev1alpha1.ReasonInstanceLost
	strategy := strategyOf(p.vm)
	if lost && (!starts(strategy) || strategy == cloudnativev1alpha1.RunOnce && !p.asked()) {
		if starts(strategy) {
			p.wake = p.untilRestart() // The restart creates it again.
		}
		p.phase = cloudnativev1alpha1.PhaseFailed
		p.outcome = flow.Stall(cloudnativev1alpha1.ReasonInstanceLost,
			fmt.Errorf("%s; runStrategy is %s: the machine is not created again", p.trouble, strategy))
		return
	}
	steps := []operation.Step{operation.Prepare, operation.Create}
	if starts(strategy) && !p.seen.capabilities().Disks { // Otherwise its disks are recorded first.
		steps = append(steps, operation.Start)
	}
	p.run(cloudnativev1alpha1.ReasonProvisioning, steps...)
}
