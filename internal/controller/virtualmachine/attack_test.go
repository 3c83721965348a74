// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// fourCPUs is a host with room for two machines of the article.
var fourCPUs = simulated.Script{Capacity: machine.Resources{MilliCPU: 4000}}

// wantFull creates one machine more and wants that it finds no room.
func (s *stage) wantFull(name string) {
	s.t.Helper()
	extra := s.machine(named("default", name))
	s.want(extra, waiting, "Ready=False/NoCapacity")
}

// An editor wrote another host into the annotation that recorded the host: the machine no longer counted on its own host, and a second
// one was created.
func TestAttackTheHostIsForgedInAnAnnotation(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": fourCPUs, "b": fourCPUs})
	onA := func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Host = s.name("a") }
	one, two := s.machine(named("default", "one"), onA), s.machine(named("default", "two"), onA)
	for _, vm := range []*cloudnativev1alpha1.VirtualMachine{one, two} {
		s.edit(vm, recorded("simulated/"+s.name("b")))
		s.want(vm, active, "Ready=True/Ready")
	}
	s.restart()
	s.settle(one)
	third := s.machine(named("default", "three"), onA)
	s.want(third, waiting, "Ready=False/NoCapacity")
	if s.count("a") != 2 || s.count("b") != 0 {
		t.Errorf("there are %d and %d machines, want 2 and none", s.count("a"), s.count("b"))
	}
}

// An editor claimed with the annotation to have a machine on a host, and got no machine and no host checked.
func TestAttackAHostIsClaimedByAnAnnotation(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": fourCPUs})
	for _, name := range []string{"one", "two"} {
		vm := s.machine(named("default", name), recorded("simulated/elsewhere"))
		s.want(vm, active, "Ready=True/Ready")
	}
	s.wantFull("three")
}

// An editor removed the finalizer and deleted the object, again and again: 24 CPUs of machines ran on a host of 4.
func TestAttackMachinesThatLostTheirObjectsAreNotCounted(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("the manager is restarted: %t", restart), func(t *testing.T) {
			s := newStage(t, fourCPUs)
			for _, name := range []string{"one", "two"} {
				vm := s.machine(named("default", name))
				testkit.Edit(t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Finalizers = nil })
				s.remove(vm)
			}
			if restart {
				s.restart()
			}
			s.wantFull("three")
			s.step(surveyAgain)
			s.wantFull("four")
			if s.count("a") != 2 {
				t.Errorf("there are %d machines, want 2", s.count("a"))
			}
		})
	}
}

// An editor deleted machines that stay: their room was given away again.
func TestAttackRetainedMachinesAreNotCounted(t *testing.T) {
	s := newStage(t, fourCPUs)
	var first *cloudnativev1alpha1.VirtualMachine
	for _, name := range []string{"one", "two"} {
		vm := s.machine(named("default", name), retain)
		if first == nil {
			first = vm.DeepCopy()
		}
		s.remove(vm)
	}
	s.wantFull("three")
	s.restart()
	s.wantFull("four")

	// Room that is free again is found again.
	if err := s.hosts["a"].Open().Delete(t.Context(), identity(first, s.installation), machine.PowerOff{Mode: machine.Hard}); err != nil {
		t.Fatal(err)
	}
	s.step(surveyAgain)
	vm := s.machine(named("default", "five"))
	s.want(vm, active, "Ready=True/Ready")
}

// An editor took the finalizer away and created the name anew before the next pass: what the machine took, which was still there, was that of its successor.
func TestAttackASuccessorTakesTheRoomOfItsMachine(t *testing.T) {
	s := newLimitedStage(t)
	first := s.machine(named("default", "one"), cpus("4"))
	testkit.Edit(t, s.Harness, first, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Finalizers = nil })
	if err := s.Live.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	second := s.machine(named("default", "one"), cpus("4"))
	s.want(second, waiting, "Ready=False/NoCapacity")
	if s.count("a") != 1 {
		t.Errorf("there are %d machines, want 1", s.count("a"))
	}
}

// An editor let thousands of machines stay, until the list of them was too large to be written, also for others.
func TestAttackTheListOfRetainedMachinesIsFilled(t *testing.T) {
	s := newStage(t, simulated.Script{})
	s.fillRetained()
	vm := s.machine(retain)
	s.remove(vm)
	s.want(vm, terminating, "Ready=False/RetainedLimit")
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.DeletionPolicy = cloudnativev1alpha1.DeletionDelete
	})
	if !s.gone(vm) || s.count("a") != 0 {
		t.Errorf("the object is gone: %t; there are %d machines", s.gone(vm), s.count("a"))
	}
	other := s.machine(named(s.Namespace(t), "other"), retain)
	s.remove(other)
	if !s.gone(other) || s.count("a") != 1 {
		t.Errorf("another namespace: the object is gone: %t; there are %d machines", s.gone(other), s.count("a"))
	}
}

// fillRetained records as many machines as the namespace may retain.
func (s *stage) fillRetained() {
	s.t.Helper()
	list := &kube.RetainedList{Client: s.Client, Live: s.Live, Namespace: s.namespace}
	for i := range 100 {
		vm := aMachine(named(s.namespace, fmt.Sprintf("filler-%d", i)))
		vm.UID = types.UID(fmt.Sprintf("5a1b0f5e-0000-4000-9000-%012d", i))
		if err := list.Add(s.t.Context(), vm, kube.Placement{Driver: machine.DriverSimulated, Host: s.name("a")}); err != nil {
			s.t.Fatal(err)
		}
	}
}

func retain(vm *cloudnativev1alpha1.VirtualMachine) {
	vm.Spec.DeletionPolicy = cloudnativev1alpha1.DeletionRetain
}

// Every namespace could use every host.
func TestAttackANamespaceUsesAHostOfAnother(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": {}, "b": {}})
	for i := range s.list {
		if s.list[i].Name == s.name("b") {
			s.list[i].Namespaces = []string{"the-platform"}
		}
	}
	s.restart()
	refused := s.machine(named("default", "refused"), func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Host = s.name("b") })
	s.want(refused, waiting, "Ready=False/HostNotAllowed", "Stalled=True/HostNotAllowed")
	stalled := apimeta.FindStatusCondition(refused.Status.Conditions, status.Stalled)
	if want := fmt.Sprintf("namespace %q can use host %q", s.namespace, s.name("a")); !strings.Contains(stalled.Message, want) {
		t.Errorf("the message is %q, want in it %q", stalled.Message, want)
	}
	for _, name := range []string{"one", "two", "three"} {
		s.want(s.machine(named("default", name)), active)
	}
	if s.count("a") != 3 || s.count("b") != 0 {
		t.Errorf("there are %d and %d machines, want 3 and none", s.count("a"), s.count("b"))
	}
}

// A machine without a size had the whole host, and left it empty for the sum.
func TestAttackAMachineWithoutASizeTakesNoRoom(t *testing.T) {
	s := newStage(t, simulated.Script{})
	s.list[0].Capacity = machine.Resources{MilliCPU: 4000}
	s.restart()
	vm := s.machine(named("default", "one"), func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Resource = vm.Spec.Resource.DeepCopy()
		delete(vm.Spec.Resource, corev1.ResourceCPU)
	})
	s.want(vm, waiting, "Ready=False/NoCapacity")
	ready := apimeta.FindStatusCondition(vm.Status.Conditions, status.Ready)
	if !strings.Contains(ready.Message, "takes machines with resource.cpu only") || s.count("a") != 0 {
		t.Errorf("there are %d machines, want none; the message is %q", s.count("a"), ready.Message)
	}
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Resource[corev1.ResourceCPU] = resource.MustParse("2")
	})
	s.step(recheckPlace)
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
}
