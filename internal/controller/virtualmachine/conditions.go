// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"fmt"
	"slices"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/status"
)

// noMachine says that nothing was made yet.
const noMachine = "the machine does not exist"

// declaration lists the conditions in the order of a machine's life.
func declaration(pass *scope) status.Declaration {
	list := status.Declaration{
		{Type: cloudnativev1alpha1.ConditionDriverReady},
		{Type: cloudnativev1alpha1.ConditionImageReady},
		{Type: cloudnativev1alpha1.ConditionProvisioned},
		{Type: cloudnativev1alpha1.ConditionPowerSynced},
		{Type: cloudnativev1alpha1.ConditionResourcesSynced},
		{Type: cloudnativev1alpha1.ConditionRestartRequired, Negative: true, Info: true},
	}
	if pass.seen.health.Info.Driver != "" {
		list = append(list, status.Declared{Type: cloudnativev1alpha1.ConditionSoftwareEmulation, Negative: true, Info: true})
	}
	if refusesRootDisk(pass) {
		list = append(list, status.Declared{Type: cloudnativev1alpha1.ConditionRootDiskRefused, Negative: true, Info: true})
	}
	return list
}

// refusesRootDisk reports whether the spec asks for a root disk and the host's machines have none.
func refusesRootDisk(pass *scope) bool {
	can := pass.seen.health.Info.Capabilities
	_, asked := pass.Object.Spec.Resource[cloudnativev1alpha1.ResourceRootDisk]
	return asked && can.Containers && !can.RootDisk
}

// mark marks every condition that the pass knows.
func mark(pass *scope, outcome flow.Outcome) *status.Marks {
	marks := declaration(pass).Begin()
	seen := pass.seen
	markHost(marks, seen)
	if seen.observed && seen.hostProblem == nil {
		markImage(marks, pass)
		markProvisioned(marks, pass, outcome)
		markPower(marks, pass, outcome)
		markSize(marks, pass)
	} else if reason := keptPower(pass.Before); reason != "" {
		marks.Unobserved(cloudnativev1alpha1.ConditionPowerSynced, reason)
	}
	if seen.unplaced {
		marks.False(cloudnativev1alpha1.ConditionProvisioned, cloudnativev1alpha1.ReasonPending, noMachine)
	}
	return marks
}

func markHost(marks *status.Marks, seen observation) {
	switch {
	case seen.hostProblem != nil:
		marks.False(cloudnativev1alpha1.ConditionDriverReady, seen.hostProblem.Reason(), seen.hostProblem.Message())
	case seen.observed && seen.at.Host != "":
		marks.True(cloudnativev1alpha1.ConditionDriverReady, cloudnativev1alpha1.ReasonDriverReady, "")
	}
	marks.True(cloudnativev1alpha1.ConditionRootDiskRefused, cloudnativev1alpha1.ReasonNoRootDisk,
		"a container has no root disk of a size of its own, and runs without that limit: remove resource.rootDisk, or use the driver libvirt")
	if seen.health.Info.Emulated {
		marks.True(cloudnativev1alpha1.ConditionSoftwareEmulation, cloudnativev1alpha1.ReasonEmulated,
			"the host emulates the guest's processor, which is slow: enable KVM on the host if it can")
		return
	}
	marks.False(cloudnativev1alpha1.ConditionSoftwareEmulation, cloudnativev1alpha1.ReasonAccelerated, "")
}

// operating returns the operation that is running, or that the pass has just decided on, nil for none.
func operating(pass *scope) *operation.Operation {
	if pass.decision.next != nil {
		return pass.decision.next
	}
	if pass.seen.op.Running() {
		return &pass.seen.op.Operation
	}
	return nil
}

func markImage(marks *status.Marks, pass *scope) {
	failure := pass.decision.failure
	op := operating(pass)
	switch {
	case failure != nil && (failure.Reason == cloudnativev1alpha1.ReasonImageNotFound || failure.Reason == cloudnativev1alpha1.ReasonImagePullFailed):
		marks.False(cloudnativev1alpha1.ConditionImageReady, failure.Reason, pass.decision.trouble)
	case pass.seen.found != nil, pass.seen.op.Running() && pass.seen.op.At != operation.Prepare:
		marks.True(cloudnativev1alpha1.ConditionImageReady, cloudnativev1alpha1.ReasonImageReady, "")
	case op != nil && op.Has(operation.Prepare):
		marks.False(cloudnativev1alpha1.ConditionImageReady, op.Reason, "waiting for the image")
	default:
		marks.Unknown(cloudnativev1alpha1.ConditionImageReady, cloudnativev1alpha1.ReasonPending, "")
	}
}

func markProvisioned(marks *status.Marks, pass *scope, outcome flow.Outcome) {
	failure, problem := pass.decision.failure, pass.seen.secretProblem
	known := pass.Object.Status.Server != nil && pass.Object.Status.Server.ID != ""
	op := operating(pass)
	switch {
	case pass.seen.found != nil, !pass.seen.looked && known:
		marks.True(cloudnativev1alpha1.ConditionProvisioned, cloudnativev1alpha1.ReasonProvisioned, "")
	case outcome.Reason() == cloudnativev1alpha1.ReasonNoCapacity, problem != nil && outcome.Reason() == problem.reason:
		marks.False(cloudnativev1alpha1.ConditionProvisioned, outcome.Reason(), outcome.Message())
	case failure != nil:
		marks.False(cloudnativev1alpha1.ConditionProvisioned, failure.Reason, pass.decision.trouble)
	case op != nil:
		marks.False(cloudnativev1alpha1.ConditionProvisioned, op.Reason, "waiting for "+underway(*op))
	default:
		marks.False(cloudnativev1alpha1.ConditionProvisioned, cloudnativev1alpha1.ReasonPending, noMachine)
	}
}

func markPower(marks *status.Marks, pass *scope, outcome flow.Outcome) {
	op, found := operating(pass), pass.seen.found
	state := machine.State("")
	if found != nil {
		state = found.State
	}
	strategy := strategyOf(pass.Object)
	switch {
	case op != nil && switches(op):
		marks.False(cloudnativev1alpha1.ConditionPowerSynced, op.Reason, "waiting for "+underway(*op))
	case state == machine.StateRunning && starts(strategy):
		marks.True(cloudnativev1alpha1.ConditionPowerSynced, cloudnativev1alpha1.ReasonRunning, "")
		marks.Reach(status.ReasonReady, fmt.Sprintf("the machine is running on host %q", pass.seen.at.Host))
	case state == machine.StatePaused && strategy == cloudnativev1alpha1.RunSuspended:
		marks.True(cloudnativev1alpha1.ConditionPowerSynced, cloudnativev1alpha1.ReasonSuspended, "")
		marks.Reach(status.ReasonReady, "the machine is suspended, as runStrategy Suspended says")
	case (state == machine.StateStopped || state == machine.StateCreated) && strategy == cloudnativev1alpha1.RunHalted:
		marks.True(cloudnativev1alpha1.ConditionPowerSynced, cloudnativev1alpha1.ReasonStopped, "")
		marks.Reach(status.ReasonReady, "the machine is off, as runStrategy Halted says")
	case pass.decision.finished:
		marks.True(cloudnativev1alpha1.ConditionPowerSynced, cloudnativev1alpha1.ReasonCompleted, ending(found))
		marks.Reach(status.ReasonReady, fmt.Sprintf("%s and is not started again, as runStrategy %s says", ending(found), strategy))
	case !pass.seen.looked:
		marks.Unknown(cloudnativev1alpha1.ConditionPowerSynced, cmp.Or(keptPower(pass.Before), outcome.Reason(), cloudnativev1alpha1.ReasonPending), outcome.Message())
	default:
		marks.False(cloudnativev1alpha1.ConditionPowerSynced, cmp.Or(outcome.Reason(), cloudnativev1alpha1.ReasonPending), outcome.Message())
	}
}

// switches reports whether the operation changes whether the machine runs.
func switches(op *operation.Operation) bool {
	return slices.ContainsFunc(op.Steps, func(step operation.Step) bool {
		switch step {
		case operation.Start, operation.Stop, operation.Suspend, operation.Resume, operation.Remove:
			return true
		default:
			return false
		}
	})
}

// markSize marks the size of the machine, and whether a change waits for a restart.
func markSize(marks *status.Marks, pass *scope) {
	found, op, decided := pass.seen.found, operating(pass), pass.decision
	if decided.pending != "" {
		marks.True(cloudnativev1alpha1.ConditionRestartRequired, decided.pending, decided.pendingText)
	} else {
		marks.False(cloudnativev1alpha1.ConditionRestartRequired, cloudnativev1alpha1.ReasonUpToDate, "")
	}
	if found == nil {
		reason := cloudnativev1alpha1.ReasonPending
		if op != nil {
			reason = op.Reason
		}
		marks.Unknown(cloudnativev1alpha1.ConditionResourcesSynced, reason, "")
		return
	}
	want := pass.seen.spec.Resources
	text := fmt.Sprintf("the machine has %s; the spec asks for %s", sizeText(found.Resources), sizeText(want))
	switch {
	case pass.seen.tooLarge != nil:
		marks.False(cloudnativev1alpha1.ConditionResourcesSynced, pass.seen.tooLarge.reason, pass.seen.tooLarge.message)
	case sameSize(found.Resources, want):
		marks.True(cloudnativev1alpha1.ConditionResourcesSynced, cloudnativev1alpha1.ReasonResourcesSynced, "")
	case decided.refusal != nil:
		marks.False(cloudnativev1alpha1.ConditionResourcesSynced, decided.refusal.reason, decided.refusal.message)
	case decided.pending == cloudnativev1alpha1.ReasonResizePending:
		marks.False(cloudnativev1alpha1.ConditionResourcesSynced, decided.pending, cmp.Or(decided.pendingText, text))
	case decided.failure != nil && !ended(decided.failure.Reason):
		marks.False(cloudnativev1alpha1.ConditionResourcesSynced, decided.failure.Reason, text+": "+decided.trouble)
	default:
		marks.False(cloudnativev1alpha1.ConditionResourcesSynced, cloudnativev1alpha1.ReasonResizing, text)
	}
}
