// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// newTentativeStage returns a stage with a large host "a", which is chosen first and whose machines cannot be looked at, and a small
// host "b".
func newTentativeStage(t *testing.T) *stage {
	t.Helper()
	return newStageOf(t, map[string]simulated.Script{
		"a": {
			Capacity: machine.Resources{MilliCPU: 16000},
			Faults:   []simulated.Fault{{Call: simulated.CallGet, Err: machine.ErrUnreachable}},
		},
		"b": {Capacity: machine.Resources{MilliCPU: 4000}},
	})
}

// freeze makes the host go away for good, and waits until the manager knows.
func (s *stage) freeze(host string) {
	s.t.Helper()
	s.hosts[host].SetAway(true)
	testkit.Eventually(s.t, "the host is known to be down", func() bool { return s.r.down(s.name(host)) })
}

// thaw makes it answer again.
func (s *stage) thaw(host string) {
	s.t.Helper()
	s.hosts[host].Heal()
	s.hosts[host].SetAway(false)
	testkit.Eventually(s.t, "the host is known to be up", func() bool { return s.fleet.Health(s.name(host)).Err == nil })
}

// A machine that was placed on a host which froze before anything was made there waited for that host for ever.
func TestMachineLeavesAHostWhereNothingWasMade(t *testing.T) {
	s := newTentativeStage(t)
	vm := s.machine(cpu("1"))
	s.want(vm, unknown, "Ready=False/DriverUnreachable")
	if server := vm.Status.Server; server.Host != s.name("a") || !server.Tentative {
		t.Fatalf("server is %+v", server)
	}
	s.freeze("a")
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready", "DriverReady=True/DriverReady")
	if server := vm.Status.Server; server.Host != s.name("b") || server.Tentative {
		t.Errorf("server is %+v", server)
	}
	s.thaw("a")
	s.settle(vm)
	if s.count("a") != 0 || s.count("b") != 1 {
		t.Errorf("%d machines on a, %d on b", s.count("a"), s.count("b"))
	}
}

func TestMachineStaysWhereSomethingMayBe(t *testing.T) {
	s := newTentativeStage(t)
	s.hosts["a"].Heal()
	vm := s.create(cpu("1"))
	s.pass(vm) // It wants to create the machine: this is recorded, and nothing is done yet.
	if server := vm.Status.Server; server.Host != s.name("a") || server.Tentative {
		t.Fatalf("server is %+v", server)
	}
	s.freeze("a")
	s.restart()
	s.settle(vm)
	s.want(vm, unknown, "Ready=False/DriverUnreachable")
	if vm.Status.Server.Host != s.name("a") || s.count("b") != 0 {
		t.Errorf("there are %d machines on b; server is %+v", s.count("b"), vm.Status.Server)
	}
}

func TestTentativePlaces(t *testing.T) {
	for sentence, test := range map[string]struct {
		vm vmEdit
		// then happens to a machine on a, where nothing was made and which is down.
		then func(s *stage, vm *cloudnativev1alpha1.VirtualMachine)
		host string
	}{
		"a host that the spec names is waited for": {
			vm:   func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Host = "a." + vm.Namespace },
			then: func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) { s.settle(vm) }, host: "a",
		},
		"a machine that fits nowhere else stays": {
			vm: cpu("8"), then: func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) { s.settle(vm) }, host: "a",
		},
		"a machine stays if no host answers": {
			vm: cpu("1"), then: func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) { s.freeze("b"); s.settle(vm) }, host: "a",
		},
		"it moves after a restart of the manager too": {
			vm: cpu("1"), then: func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) { s.restart(); s.settle(vm) }, host: "b",
		},
		"it moves if the host is configured no more": {
			vm: cpu("1"), then: func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) {
				s.list = slices.DeleteFunc(s.list, func(h machine.Host) bool { return h.Name == s.name("a") })
				s.restart()
				s.settle(vm)
			}, host: "b",
		},
		"a paused one stays": {
			vm: cpu("1"), then: func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) {
				s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
					metav1.SetMetaDataAnnotation(&vm.ObjectMeta, "windlass.io/paused", "true")
				})
			}, host: "a",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTentativeStage(t)
			vm := s.create(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Namespace = s.namespace }, test.vm)
			s.settle(vm)
			if server := vm.Status.Server; server.Host != s.name("a") || !server.Tentative {
				t.Fatalf("server is %+v", server)
			}
			s.hosts["a"].SetAway(true)
			s.hosts["a"].Heal()
			testkit.Eventually(t, "the host is known to be down", func() bool { return s.r.down(s.name("a")) })
			test.then(s, vm)
			if server := vm.Status.Server; server.Host != s.name(test.host) || server.Tentative != (test.host == "a") {
				t.Errorf("server is %+v, want host %q", server, test.host)
			}
			if driver := s.hosts["b"].Open(); test.host == "b" {
				if list, err := driver.List(t.Context(), s.installation); err != nil || len(list) != 1 {
					t.Errorf("b has %+v, %v", list, err)
				}
			}
			if test.host == "a" && vm.Annotations["windlass.io/paused"] == "" {
				s.thaw("a")
				s.settle(vm)
				s.want(vm, active, "Ready=True/Ready")
			}
		})
	}
}

// An object whose machine was never made needs no host to go.
func TestDeletionDoesNotWaitForAHostWhereNothingWasMade(t *testing.T) {
	s := newTentativeStage(t)
	vm := s.machine(cpu("1"))
	s.freeze("a")
	s.freeze("b")
	s.settle(vm)
	s.want(vm, unknown)
	s.remove(vm)
	if !s.gone(vm) {
		t.Errorf("the object is there: %+v", vm.Status)
	}
}
