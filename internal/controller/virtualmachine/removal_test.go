// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/status"
)

func TestPlanRemoval(t *testing.T) {
	t.Parallel()
	retain := func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.DeletionPolicy = cloudnativev1alpha1.DeletionRetain
	}
	runs := func(reason string, generation int64) func(*observation) {
		return func(o *observation) {
			o.op = &operation.Progress{Operation: operation.Operation{Reason: reason, Generation: generation, Steps: []operation.Step{operation.Stop}}}
		}
	}
	ended := func(reason string, err error) func(*observation) {
		return func(o *observation) {
			runs(reason, 1)(o)
			o.op.Steps, o.op.At, o.op.Done, o.op.Err = []operation.Step{operation.Remove}, operation.Remove, true, err
		}
	}
	none := func(o *observation) { o.found = nil }
	silent := func(o *observation) { o.looked, o.found = false, nil }
	away := func(o *observation) {
		o.hostProblem = unreachable(&cloudnativev1alpha1.VirtualMachine{}, *o, machine.ErrUnreachable)
	}
	type removal struct {
		Released, Retained, Canceled bool
		Steps                        []operation.Step
		Reason                       string
	}
	cases := map[string]struct {
		vm   []vmEdit
		seen []func(*observation)
		want removal
	}{
		"a machine is removed first": {want: removal{Steps: []operation.Step{operation.Remove}, Reason: "Deleting"}},
		"so is what may be left of one that is gone": {
			seen: []func(*observation){none},
			want: removal{Steps: []operation.Step{operation.Remove}, Reason: "Deleting"},
		},
		"an object that never had a host is released": {
			seen: []func(*observation){func(o *observation) { o.at = kube.Placement{} }}, want: removal{Released: true},
		},
		"an object whose machine was removed is released": {
			seen: []func(*observation){ended("Deleting", nil)}, want: removal{Released: true},
		},
		"a removal that failed waits for its time": {
			seen: []func(*observation){ended("Deleting", machine.ErrBusy)}, want: removal{Reason: "DeleteFailed"},
		},
		"a host that does not answer is waited for": {
			seen: []func(*observation){away}, want: removal{Reason: "DriverUnreachable"},
		},
		"a machine that is retained needs no host": {
			vm: []vmEdit{retain}, seen: []func(*observation){away, silent}, want: removal{Released: true, Retained: true},
		},
		"a removal that is running is waited for": {
			seen: []func(*observation){runs("Deleting", 1)}, want: removal{Reason: "Deleting"},
		},
		"a removal of an outdated spec is canceled": {
			seen: []func(*observation){runs("Deleting", 0)}, want: removal{Reason: "Deleting", Canceled: true},
		},
		"a removal of a machine that is to be retained is canceled": {
			vm: []vmEdit{retain}, seen: []func(*observation){runs("Deleting", 0)}, want: removal{Reason: "Deleting", Canceled: true},
		},
		"what was prepared for a machine that was never made is removed": {
			vm: []vmEdit{retain}, seen: []func(*observation){none}, want: removal{Steps: []operation.Step{operation.Remove}, Reason: "Deleting"},
		},
		"that is waited for": {
			vm: []vmEdit{retain}, seen: []func(*observation){runs("Deleting", 1)}, want: removal{Reason: "Deleting"},
		},
		"and nothing stays of it": {
			vm: []vmEdit{retain}, seen: []func(*observation){none, ended("Deleting", nil)}, want: removal{Released: true},
		},
		"if that fails, what was prepared stays": {
			vm: []vmEdit{retain}, seen: []func(*observation){none, ended("Deleting", machine.ErrBusy)}, want: removal{Released: true, Retained: true},
		},
		"a machine that has disappeared may come back": {
			vm: []vmEdit{retain, func(vm *cloudnativev1alpha1.VirtualMachine) {
				vm.Status.Server = &cloudnativev1alpha1.Server{ID: "1"}
			}}, seen: []func(*observation){none}, want: removal{Released: true, Retained: true},
		},
		"disks that were recorded stay": {
			vm: []vmEdit{retain, func(vm *cloudnativev1alpha1.VirtualMachine) {
				vm.Status.Disks = []cloudnativev1alpha1.MadeDisk{{Name: "root"}}
			}}, seen: []func(*observation){none}, want: removal{Released: true, Retained: true},
		},
		"a machine that is there stays": {vm: []vmEdit{retain}, want: removal{Released: true, Retained: true}},
		"any other operation is canceled": {
			seen: []func(*observation){runs("Provisioning", 1)}, want: removal{Reason: "Provisioning", Canceled: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vm := aMachine(tc.vm...)
			vm.DeletionTimestamp = new(metav1.NewTime(noon))
			d := planRemoval(vm, sees(vm, tc.seen...), noon)
			got := removal{Released: d.release, Retained: d.retain, Canceled: d.cancel, Reason: d.outcome.Reason()}
			if d.next != nil {
				got.Steps = d.next.Steps
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("removal (-want +got):\n%s", diff)
			}
			if d.phase != cloudnativev1alpha1.PhaseTerminating {
				t.Errorf("the phase is %q", d.phase)
			}
		})
	}
}

func TestAimNeverPassesTheTime(t *testing.T) {
	t.Parallel()
	const year = 8760 * time.Hour
	for _, wait := range []time.Duration{0, time.Second, 5 * time.Second, time.Minute, year, 75 * year} {
		longest := aim(wait) + aim(wait)/5
		if early := wait - aim(wait); early > wait/5 {
			t.Errorf("a pass that is due in %s comes %s early", wait, early)
		}
		if late := longest - wait; late > time.Second {
			t.Errorf("a pass that is due in %s comes up to %s late", wait, late)
		}
	}
}

// With Retain, a machine that could not be made left its disks for good, was said to stay, and took a place among those that do.
func TestMachineThatWasNeverMadeIsRetained(t *testing.T) {
	s := newStage(t, simulated.Script{Faults: []simulated.Fault{{Call: simulated.CallCreate, Err: machine.ErrInvalid}}})
	vm := s.machine(retain)
	s.want(vm, failing, "Ready=False/InvalidSpec")
	s.fillRetained()
	s.remove(vm)
	if !s.gone(vm) {
		t.Errorf("the object is there: %+v", vm.Status)
	}
	if slices.Contains(s.Events.Reasons(), cloudnativev1alpha1.ReasonRetained) {
		t.Error("an event says that the machine stays")
	}
}

// What people were told to remove did not leave the list, because of a host that nothing named.
func TestRetainedLimitNamesTheHostThatKeepsTheList(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": {}, "b": {}, "c": {}})
	for i := range s.list {
		if s.list[i].Name == s.name("c") {
			s.list[i].Namespaces = []string{"the-platform"}
		}
	}
	s.restart()
	s.fillRetained()
	vm := s.machine(retain, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Host = s.name("a") })
	s.freeze("b")
	s.freeze("c")
	s.remove(vm)
	s.want(vm, terminating, "Ready=False/RetainedLimit")
	want := fmt.Sprintf("waiting for room among the retained machines: too many retained machines: namespace %q has 100; "+
		"remove some from their hosts, which counts some half an hour later and while all hosts answer, or set deletionPolicy: Delete. "+
		"Hosts that do not answer: %q, 1 of other namespaces. Repair them, or remove those that are gone from the hosts file", s.namespace, s.name("b"))
	if ready := apimeta.FindStatusCondition(vm.Status.Conditions, status.Ready); ready.Message != want {
		t.Errorf("the message is %q, want %q", ready.Message, want)
	}
}

// A host broke for good. Its machines were retained and it was removed from the hosts file, as the messages say, and the machines took the room of their
// namespace for ever: nothing leaves the list without a sweep of its host.
func TestMachinesOfAHostThatIsGoneTakeTheRoomOfOthers(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": {}, "b": {}})
	on := func(host string) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Host = s.name(host) }
	}
	there, gone := s.machine(retain, on("b")), s.machine(named("default", "gone"), retain, on("a"))
	s.fillRetained()
	s.remove(there)
	s.want(there, terminating, "Ready=False/RetainedLimit")
	s.remove(gone)
	s.want(gone, terminating, "Ready=False/RetainedLimit")
	s.list = slices.DeleteFunc(s.list, func(host machine.Host) bool { return host.Name == s.name("a") })
	s.restart()
	s.settle(there)
	s.settle(gone)
	if !s.gone(there) || !s.gone(gone) {
		t.Errorf("the objects are gone: %t, %t", s.gone(there), s.gone(gone))
	}
	stay, err := s.r.retained.Hosts(t.Context())
	if err != nil || len(stay) != 102 || stay[string(gone.UID)] != s.name("a") {
		t.Errorf("the list has %d entries, %v", len(stay), err)
	}
}
