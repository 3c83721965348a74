// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// A change of a container's spec with a size that the host refuses removed the old container, and then there was none.
func TestRefusedReplacementLeavesTheMachineRunning(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(cpu("1"), func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.UpdatePolicy = cloudnativev1alpha1.UpdateRestart })
	id := vm.Status.Server.ID
	s.Events.Take()
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) { image("busybox")(vm); cpu("1000")(vm) })
	s.want(vm, active, "Ready=False/NoCapacity", "Provisioned=True/Provisioned", "PowerSynced=True/Running", "ResourcesSynced=False/NoCapacity")
	s.wantEvents("NoCapacity")
	if vm.Status.Server.ID != id || s.count("a") != 1 || s.on("a", vm).State != machine.StateRunning {
		t.Errorf("of %q there is %+v", id, s.on("a", vm))
	}

	// A crash does not turn it into an outage: the machine starts as it was.
	s.step(time.Minute)
	s.hosts["a"].Kill(identity(vm, "installation"))
	s.settle(vm)
	for range 3 {
		s.step(30 * time.Second)
		s.settle(vm)
	}
	s.want(vm, active, "Ready=False/NoCapacity", "PowerSynced=True/Running")
	if vm.Status.Server.ID != id || vm.Status.RestartCount != 1 {
		t.Errorf("after a crash, the status is %+v", vm.Status)
	}

	// What the host accepts replaces it.
	s.edit(vm, cpu("2"))
	s.want(vm, active, "Ready=True/Ready", "ResourcesSynced=True/ResourcesSynced")
	if vm.Status.Server.ID == id || s.count("a") != 1 {
		t.Errorf("the machine was not replaced: %+v", vm.Status.Server)
	}
}

// An image that does not exist, besides: nor does it keep a machine from being started again.
func TestMissingImageKeepsNoMachineFromStartingAgain(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	id := vm.Status.Server.ID
	s.edit(vm, image("missing"))
	s.want(vm, active, "RestartRequired=True/SpecChanged")
	s.step(time.Minute)
	s.hosts["a"].Kill(identity(vm, "installation"))
	s.settle(vm)
	s.step(30 * time.Second)
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready", "RestartRequired=True/SpecChanged")
	if vm.Status.Server.ID != id || apimeta.IsStatusConditionFalse(vm.Status.Conditions, cloudnativev1alpha1.ConditionPowerSynced) {
		t.Errorf("the status is %+v", vm.Status)
	}
}
