// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/status"
)

// maxReason bounds status.reason, as its schema says.
const maxReason = 1024

// describe writes what a pass has observed into the status, and returns the marks of the conditions.
func describe(pass *scope, outcome flow.Outcome) *status.Marks {
	vm, seen, decided := pass.Object, pass.seen, pass.decision
	vm.Status.Phase = cmp.Or(phaseOf(pass), vm.Status.Phase, cloudnativev1alpha1.PhasePending)
	vm.Status.Server = serverOf(vm, seen)
	if vm.Status.Server != nil && seen.at.Host != "" {
		vm.Status.Server.Tentative = seen.tentative && seen.found == nil && decided.next == nil
		vm.Status.Server.Suspended = isOurs(pass)
	}
	if seen.found != nil {
		vm.Status.Disks = recordOf(vm, seen.found, pass.Now)
	}
	if !pass.settled {
		forgive(vm)
	} else {
		vm.Status.StartFailure, vm.Status.Reason = decided.failure, decided.trouble
		if decided.served != nil {
			vm.Status.LastRestartTime = decided.served
		}
		if decided.restarted {
			vm.Status.RestartCount++
		}
	}
	marks := mark(pass, outcome)
	if updates(pass, marks, outcome) {
		vm.Status.LastUpdateTime = new(metav1.NewTime(pass.Now.Truncate(time.Second)))
	}
	return marks
}

// forgive lets the next attempt begin as soon as it can if the spec has changed, as a plan does. A pass that cannot plan, because the host does not answer,
// tells of the new spec all the same, so that the next one no longer sees that it is new.
func forgive(vm *cloudnativev1alpha1.VirtualMachine) {
	failure := vm.Status.StartFailure
	if failure == nil || vm.Status.ObservedGeneration == vm.Generation {
		return
	}
	failure.Count, failure.RetryAfter = 0, nil
	if failure.Reason != cloudnativev1alpha1.ReasonInstanceLost {
		vm.Status.Reason = ""
	}
}

// isOurs reports whether Windlass has suspended the machine, or is about to. A pass that has not planned what to do with the machine
// leaves that as it was.
func isOurs(pass *scope) bool {
	if pass.settled && pass.seen.found != nil {
		return pass.decision.ours
	}
	return keptSuspended(pass.Before)
}

// updates reports whether the pass changes the status, for which the conditions have to be tried on a copy.
func updates(pass *scope, marks *status.Marks, outcome flow.Outcome) bool {
	return !equality.Semantic.DeepEqual(pass.Before.Status, tried(pass, marks, outcome).Status)
}

// tried returns a copy of the object with the conditions that the marks make.
func tried(pass *scope, marks *status.Marks, outcome flow.Outcome) *cloudnativev1alpha1.VirtualMachine {
	trial := flow.NewPass(pass.Object.DeepCopy(), pass.Now)
	trial.Apply(marks, outcome)
	return trial.Object
}

// phaseOf returns the phase, empty if the pass knows no better one than the last.
func phaseOf(pass *scope) cloudnativev1alpha1.Phase {
	switch {
	case pass.Object.DeletionTimestamp != nil:
		return cloudnativev1alpha1.PhaseTerminating
	case pass.seen.hostProblem != nil && pass.seen.at.Host == "":
		return cloudnativev1alpha1.PhasePending
	case pass.seen.hostProblem != nil:
		return cloudnativev1alpha1.PhaseUnknown
	default:
		return pass.decision.phase
	}
}

// serverOf describes the machine. If it cannot be observed now, it stays as it was. Of a machine that is gone, the host remains, and
// when it was last started: so the next start is known to be a restart, also of another container.
func serverOf(vm *cloudnativev1alpha1.VirtualMachine, seen observation) *cloudnativev1alpha1.Server {
	was := vm.Status.Server
	if seen.at.Host == "" {
		return was
	}
	where := &cloudnativev1alpha1.Server{Driver: cloudnativev1alpha1.Driver(seen.at.Driver), Host: seen.at.Host}
	if !seen.looked {
		if was == nil {
			return where
		}
		kept := was.DeepCopy()
		kept.Driver, kept.Host = where.Driver, where.Host
		return kept
	}
	if was != nil {
		where.UID, where.StartedAt = was.UID, was.StartedAt
	}
	found := seen.found
	if found == nil {
		return where
	}
	where.ID, where.Name, where.State = found.ID, found.NativeName, stateText(found.State)
	if !found.StartedAt.IsZero() {
		where.StartedAt = timeOf(found.StartedAt)
	}
	where.ExitCode = found.ExitCode
	addresses := slices.Sorted(slices.Values(found.Addresses))
	where.Addresses = addresses[:min(len(addresses), cloudnativev1alpha1.MaxAddresses)]
	for _, port := range found.Ports[:min(len(found.Ports), cloudnativev1alpha1.MaxPorts)] {
		where.Ports = append(where.Ports, cloudnativev1alpha1.Port{
			Name: nameOf(vm.Spec.Ports, port), Port: int32(port.Port), HostPort: int32(port.HostPort), HostIP: port.HostIP,
			Protocol: cloudnativev1alpha1.Protocol(port.Protocol),
		})
	}
	if was != nil && found.State == machine.StateRunning {
		where.Usage = was.Usage // which package machineusage writes
	}
	return where
}

// nameOf returns the name that the spec gives to a port of the machine. Drivers know no names, so that another name never changes a machine.
func nameOf(wanted []cloudnativev1alpha1.Port, found machine.Port) string {
	for _, port := range wanted {
		if of := portOf(port); of.Port == found.Port && of.Protocol == found.Protocol {
			return port.Name
		}
	}
	return ""
}

// timeOf is a time as the API spells it, nil if it is not known.
func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}
