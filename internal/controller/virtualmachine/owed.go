// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/status"
)

// ran reports whether the machine has run since the last pass and was not turned off by this process.
func (p *planner) ran() bool {
	was := p.vm.Status.Server
	return p.began || !p.stopped && was != nil && was.State == stateText(machine.StateRunning)
}

// owed reports whether the machine is off because Windlass has turned it off, or has left it off, and has not started it since. Then its being off is
// not its end, whatever the strategy does about that. An operation can fail after its stop, and a manager can end there: the next one has only the
// status.
func (p *planner) owed() bool {
	switch {
	case p.replacing(), p.cut:
		return true
	case p.began || p.startedLater():
		return false // It has run since, and has ended by itself.
	case p.halfway, p.rested(), p.now.Before(p.seen.givenUp):
		return true
	}
	reason := switching(p.vm)
	if was := p.vm.Status.Server; was == nil || was.State != stateText(machine.StateStopped) {
		// The pass that begins a restart tells of it. Of a replacement this proves nothing: it first fetches an image, for minutes.
		return reason == cloudnativev1alpha1.ReasonRestarting
	}
	// The machine was off already, and was to be started. A change of the spec forgives a failure, so the status counts, not the plan.
	failure := p.vm.Status.StartFailure
	switch reason {
	case cloudnativev1alpha1.ReasonRestarting, cloudnativev1alpha1.ReasonStarting, status.ReasonPaused:
		return true
	default:
		return reason != "" && failure != nil && !ended(failure.Reason)
	}
}

// replacing reports whether the machine is off because a replacement was under way. What an instance that ended has made for that can be left beside a machine
// that ignored its stop, and runs on with the spec that it was made from.
func (p *planner) replacing() bool {
	found, reason := p.seen.found, switching(p.vm)
	return found.Replacing && (found.SpecHash != p.seen.spec.Hash || reason != "" && !ended(reason))
}

// stopsLate reports whether the machine runs although it may have been turned off to be replaced: its program can take long to end, so that the change is
// taken back meanwhile. Once a pass has recorded that it runs, only this process knows.
func stopsLate(pass *scope) bool {
	found := pass.seen.found
	if found == nil || found.State != machine.StateRunning || !found.Replacing {
		return false
	}
	return found.SpecHash != pass.seen.spec.Hash || switching(pass.Before) == cloudnativev1alpha1.ReasonReplacing
}

// rested reports whether an earlier pass has recorded that the machine is off or suspended because the spec wanted that.
func (p *planner) rested() bool {
	told := powerOf(p.vm)
	if told == nil {
		return false
	}
	switch told.Reason {
	case cloudnativev1alpha1.ReasonStopped, cloudnativev1alpha1.ReasonSuspended:
		// Otherwise the machine has ended, and waits for its next start.
		waits := p.vm.Status.StartFailure != nil && ended(p.vm.Status.StartFailure.Reason)
		return told.Status == metav1.ConditionTrue || told.Status == metav1.ConditionUnknown && !waits
	case cloudnativev1alpha1.ReasonNotSuspended:
		return true
	default:
		return false
	}
}

// switching returns the reason why an earlier pass has recorded that the machine is not yet on or off as it has to be, empty for none.
func switching(vm *cloudnativev1alpha1.VirtualMachine) string {
	told := powerOf(vm)
	if told == nil || told.Status == metav1.ConditionTrue || told.Reason == status.ReasonNotObserved {
		return ""
	}
	return told.Reason
}

// keptPower returns the reason that has to outlive an outage of the host, so that a later pass still knows whose stop it was. Empty for none.
func keptPower(vm *cloudnativev1alpha1.VirtualMachine) string {
	if told := powerOf(vm); told != nil && told.Status == metav1.ConditionTrue {
		switch told.Reason {
		case cloudnativev1alpha1.ReasonStopped, cloudnativev1alpha1.ReasonSuspended:
			return told.Reason
		}
	}
	return switching(vm)
}

// powerOf returns what an earlier pass has told of the machine's power, nil for nothing.
func powerOf(vm *cloudnativev1alpha1.VirtualMachine) *metav1.Condition {
	return apimeta.FindStatusCondition(vm.Status.Conditions, cloudnativev1alpha1.ConditionPowerSynced)
}
