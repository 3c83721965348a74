// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
)

// States that a machine can be asked for.
const (
	stateOn      = "on"
	stateOff     = "off"
	stateRestart = "restart"
	stateSuspend = "suspend"
	stateResume  = "resume"
)

// PowerRequest asks for a machine that is on, off, on again, suspended or resumed.
type PowerRequest struct {
	// State that the machine is to have.
	State string `json:"state" enum:"on,off,restart,suspend,resume" doc:"on, off, restart (off and on again), suspend (it keeps its memory and uses no CPU), or resume" example:"off"`
	// Mode and GracePeriodSeconds say how the machine is turned off.
	Mode               cloudnativev1alpha1.PowerOffMode `json:"mode,omitempty" enum:"Soft,TrySoft,Hard" doc:"For off and restart: how the machine is turned off. Soft asks it, TrySoft asks it and then powers it off, Hard powers it off. It stays in spec.powerOff" example:"Hard"`
	GracePeriodSeconds *int32                           `json:"gracePeriodSeconds,omitempty" minimum:"0" maximum:"3600" doc:"How long the machine may take to shut down. It stays in spec.powerOff" example:"60"`
	// RunStrategy of a machine that is turned on or resumed.
	RunStrategy cloudnativev1alpha1.RunStrategy `json:"runStrategy,omitempty" enum:"Always,RerunOnFailure,Once" doc:"For on and resume: spec.runStrategy of a machine that is Halted or Suspended. The default is Always" example:"Always"`
}

// Power turns a machine on or off, restarts, suspends or resumes it.
func Power(vm *cloudnativev1alpha1.VirtualMachine, want *PowerRequest, now time.Time) error {
	runs, ends := want.State == stateOn || want.State == stateResume, want.State == stateOff || want.State == stateRestart
	if !ends && (want.Mode != "" || want.GracePeriodSeconds != nil) {
		return wrongField("mode", "says how a machine is turned off: leave it out to turn it on, suspend or resume it")
	}
	if !runs && want.RunStrategy != "" {
		return wrongField("runStrategy", "says when a machine runs that is turned on or resumed: leave it out")
	}
	vm.Spec.PowerOff.Mode = cmp.Or(want.Mode, vm.Spec.PowerOff.Mode)
	if want.GracePeriodSeconds != nil {
		vm.Spec.PowerOff.GracePeriodSeconds = want.GracePeriodSeconds
	}
	switch want.State {
	case stateOff:
		rest(vm, cloudnativev1alpha1.RunHalted)
		return nil
	case stateSuspend:
		return suspend(vm)
	case stateResume:
		return resume(vm, want.RunStrategy)
	case stateRestart:
		return restartRunning(vm, now)
	default:
		return turnOn(vm, want.RunStrategy, now)
	}
}

// rest sets a strategy under which the machine does not run.
func rest(vm *cloudnativev1alpha1.VirtualMachine, strategy cloudnativev1alpha1.RunStrategy) {
	vm.Spec.RunStrategy = strategy
	vm.Spec.Action = "" // which early manifests have, and which asks for a machine that runs
}

// suspend suspends a machine that runs, or is about to.
func suspend(vm *cloudnativev1alpha1.VirtualMachine) error {
	if vm.Spec.RunStrategy == cloudnativev1alpha1.RunHalted || hasEnded(vm) {
		return refuse(machineOff, "The machine is off, and only one that runs can be suspended: turn it on first.")
	}
	rest(vm, cloudnativev1alpha1.RunSuspended)
	return nil
}

// resume lets a suspended machine run. One that is off would start without what was in its memory, which its caller does not expect.
func resume(vm *cloudnativev1alpha1.VirtualMachine, strategy cloudnativev1alpha1.RunStrategy) error {
	switch {
	case vm.Spec.RunStrategy != cloudnativev1alpha1.RunSuspended:
		return NothingToDo("spec.runStrategy is not Suspended: there is nothing to resume.")
	case vm.Status.Phase == cloudnativev1alpha1.PhaseStopped:
		return refuse(machineOff, "The machine is off, and what was in its memory is lost: turn the machine on instead.")
	}
	vm.Spec.RunStrategy = cmp.Or(strategy, cloudnativev1alpha1.RunAlways)
	return nil
}

// restartRunning restarts a machine unless it is off or suspended on purpose. One that somebody has suspended on its host would be restarted whenever
// they resume it, days later.
func restartRunning(vm *cloudnativev1alpha1.VirtualMachine, now time.Time) error {
	switch {
	case vm.Spec.RunStrategy == cloudnativev1alpha1.RunHalted:
		return refuse(machineOff, "spec.runStrategy is Halted: turn the machine on instead.")
	case vm.Spec.RunStrategy == cloudnativev1alpha1.RunSuspended:
		return refuse(machineOff, "spec.runStrategy is Suspended: resume the machine first, or turn it off and on.")
	case isHeld(vm):
		return refuse(machineOff, "Somebody has suspended the machine on its host: resume it there first, or turn it off and on.")
	default:
		return restartMachine(vm, now)
	}
}

// isHeld reports whether somebody other than Windlass has suspended the machine.
func isHeld(vm *cloudnativev1alpha1.VirtualMachine) bool {
	power := meta.FindStatusCondition(vm.Status.Conditions, cloudnativev1alpha1.ConditionPowerSynced)
	return power != nil && power.Reason == cloudnativev1alpha1.ReasonHeld
}

// turnOn turns on a machine that is off, and resumes one that is suspended.
func turnOn(vm *cloudnativev1alpha1.VirtualMachine, strategy cloudnativev1alpha1.RunStrategy, now time.Time) error {
	switch was := vm.Spec.RunStrategy; {
	case was == cloudnativev1alpha1.RunHalted || was == cloudnativev1alpha1.RunSuspended:
		vm.Spec.RunStrategy = cmp.Or(strategy, cloudnativev1alpha1.RunAlways)
		return nil
	case hasEnded(vm):
		return restartMachine(vm, now)
	default:
		return NothingToDo("The machine is on, or Windlass is starting it. To start it again, restart it.")
	}
}

// hasEnded reports whether the machine has ended and is not started again by itself.
func hasEnded(vm *cloudnativev1alpha1.VirtualMachine) bool {
	once := vm.Spec.RunStrategy == cloudnativev1alpha1.RunOnce || vm.Spec.RunStrategy == cloudnativev1alpha1.RunRerunOnFailure
	return once && (vm.Status.Phase == cloudnativev1alpha1.PhaseStopped || vm.Status.Phase == cloudnativev1alpha1.PhaseFailed)
}

// restartMachine asks for a restart now. One that was planned for later is replaced.
func restartMachine(vm *cloudnativev1alpha1.VirtualMachine, now time.Time) error {
	asked, served := vm.Spec.RestartAt, vm.Status.LastRestartTime
	if asked != nil && !asked.After(now) && (served == nil || asked.After(served.Time)) {
		return NothingToDo("A restart is already under way.")
	}
	// A whole second that has not begun yet: a machine that was started before is started again.
	vm.Spec.RestartAt = &metav1.Time{Time: now.Truncate(time.Second).Add(time.Second)}
	return nil
}

// ResizeRequest asks for another size of a machine. What is left out stays.
type ResizeRequest struct {
	// CPU is a number of cores.
	CPU string `json:"cpu,omitempty" maxLength:"32" doc:"Cores, as in 2 or 500m" example:"4"`
	// Memory is a number of bytes.
	Memory string `json:"memory,omitempty" maxLength:"32" doc:"Bytes, as in 4Gi" example:"8Gi"`
	// RootDisk is a number of bytes.
	RootDisk string `json:"rootDisk,omitempty" maxLength:"32" doc:"Bytes, as in 40Gi. A root disk only grows" example:"80Gi"`
}

// Resize changes the size of a machine. spec.updatePolicy says when the machine gets it.
func Resize(vm *cloudnativev1alpha1.VirtualMachine, want *ResizeRequest) error {
	if *want == (ResizeRequest{}) {
		return wrongField("cpu", "is required, or memory, or rootDisk")
	}
	sizes := map[corev1.ResourceName]string{
		cloudnativev1alpha1.ResourceCPU: want.CPU, cloudnativev1alpha1.ResourceMemory: want.Memory,
		cloudnativev1alpha1.ResourceRootDisk: want.RootDisk,
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		value := sizes[name]
		if value == "" {
			continue
		}
		quantity, err := resource.ParseQuantity(value)
		if err != nil {
			return wrongField(string(name), "is not a quantity such as 2, 500m or 4Gi")
		}
		had, known := vm.Spec.Resource[name]
		switch {
		case known && had.Cmp(quantity) == 0:
			continue // another notation of the same size is no change
		case known && name == cloudnativev1alpha1.ResourceRootDisk && quantity.Cmp(had) < 0:
			return refuse(diskShrinks, "The root disk has "+had.String()+", and a root disk only grows.")
		}
		if vm.Spec.Resource == nil {
			vm.Spec.Resource = corev1.ResourceList{}
		}
		vm.Spec.Resource[name] = quantity
	}
	return nil
}
