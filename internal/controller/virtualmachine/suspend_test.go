// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

const suspended = cloudnativev1alpha1.PhaseSuspended

func TestPlanOfASuspension(t *testing.T) {
	t.Parallel()
	recorded := func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status.Phase, vm.Status.Server = suspended, &cloudnativev1alpha1.Server{ID: "x", State: "paused", Suspended: true}
	}
	restart := func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RestartAt = &vm.CreationTimestamp }
	paused, off, never := state(machine.StatePaused), state(machine.StateStopped), state(machine.StateCreated)
	none := func(o *observation) { o.found = nil }
	small := func(o *observation) { o.found.Resources.MilliCPU = 1 }
	unkept := func(ago time.Duration) func(*observation) { return func(o *observation) { o.unkept = noon.Add(-ago) } }
	type want struct {
		Plan    planned
		Ours    bool
		Pending string
	}
	tests := map[string]struct {
		vm   []vmEdit
		seen []func(*observation)
		want want
	}{
		"what Windlass is about to do is recorded first": {
			vm: []vmEdit{runs("Suspended")}, want: want{Plan: planned{Phase: "Active", Reason: "Suspending"}, Ours: true},
		},
		"a machine that runs is suspended after that": {
			vm:   []vmEdit{recorded, runs("Suspended")},
			want: want{Plan: planned{Steps: []operation.Step{operation.Suspend}, Phase: suspended, Reason: "Suspending"}, Ours: true},
		},
		"a suspended machine is left alone": {
			vm: []vmEdit{recorded, runs("Suspended")}, seen: []func(*observation){paused}, want: want{Plan: planned{Phase: suspended}, Ours: true},
		},
		"a machine that somebody has suspended is adopted when it is to be suspended": {
			vm: []vmEdit{runs("Suspended")}, seen: []func(*observation){paused}, want: want{Plan: planned{Phase: suspended}, Ours: true},
		},
		"a machine that Windlass has suspended is resumed": {
			vm: []vmEdit{recorded, runs("Once")}, seen: []func(*observation){paused},
			want: want{Plan: planned{Steps: []operation.Step{operation.Resume}, Phase: suspended, Reason: "Resuming"}, Ours: true},
		},
		"a machine that somebody else has suspended is not resumed": {
			seen: []func(*observation){paused}, want: want{Plan: planned{Phase: "Stopped", Reason: "Held"}},
		},
		"a suspension soon after the record has ended is that of an instance before, which is recorded first": {
			seen: []func(*observation){paused, unkept(10 * time.Second)}, want: want{Plan: planned{Phase: "Active", Reason: "Resuming"}, Ours: true},
		},
		"a suspension later than that is somebody else's": {
			seen: []func(*observation){paused, unkept(time.Minute)}, want: want{Plan: planned{Phase: "Stopped", Reason: "Held"}},
		},
		"the record ends when the machine runs": {
			vm: []vmEdit{recorded}, want: want{Plan: planned{Phase: "Active"}},
		},
		"a suspended machine that is to be off is turned off": {
			vm: []vmEdit{recorded, runs("Halted")}, seen: []func(*observation){paused},
			want: want{Plan: planned{Steps: []operation.Step{operation.Stop}, Phase: suspended, Reason: "Stopping"}, Ours: true},
		},
		"a machine that went off while it was suspended stays off": {
			vm: []vmEdit{recorded, runs("Suspended")}, seen: []func(*observation){off},
			want: want{Plan: planned{Phase: "Stopped", Reason: "NotSuspended"}, Ours: true},
		},
		"a machine that never ran is not started to be suspended": {
			vm: []vmEdit{runs("Suspended")}, seen: []func(*observation){never}, want: want{Plan: planned{Phase: "Stopped", Reason: "NotSuspended"}},
		},
		"a restart waits until the machine may run": {
			vm: []vmEdit{recorded, runs("Suspended"), restart}, seen: []func(*observation){off},
			want: want{Plan: planned{Phase: "Stopped", Reason: "NotSuspended"}, Ours: true},
		},
		"a machine that went off while it was suspended starts when it may run": {
			vm: []vmEdit{recorded}, seen: []func(*observation){off},
			want: want{Plan: planned{Steps: []operation.Step{operation.Start}, Phase: "Creating", Reason: "Starting"}},
		},
		"a machine that does not exist is made, and not started": {
			vm: []vmEdit{runs("Suspended")}, seen: []func(*observation){none},
			want: want{Plan: planned{Steps: []operation.Step{operation.Prepare, operation.Create}, Phase: "Creating", Reason: "Provisioning"}},
		},
		"a suspended machine that has disappeared is not made again": {
			vm: []vmEdit{recorded, runs("Suspended")}, seen: []func(*observation){none}, want: want{Plan: planned{Phase: "Failed", Reason: "InstanceLost"}},
		},
		"another size waits until the machine runs": {
			vm: []vmEdit{recorded, runs("Suspended")}, seen: []func(*observation){paused, small},
			want: want{Plan: planned{Phase: suspended, Reason: "ResizePending"}, Ours: true, Pending: "ResizePending"},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			vm := aMachine(append([]vmEdit{func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Status.ObservedGeneration = 1 }}, test.vm...)...)
			d := plan(vm, sees(vm, test.seen...), noon)
			if diff := cmp.Diff(test.want, want{Plan: plannedOf(d), Ours: d.ours, Pending: d.pending}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The disk of a host was full, and the guest was said to be suspended by somebody. To resume it suspended it again.
func TestGuestThatItsHostHasSuspendedIsSaidToBeHeldBySomebody(t *testing.T) {
	t.Parallel()
	vm := aMachine()
	d := plan(vm, sees(vm, state(machine.StatePaused), func(o *observation) { o.found.Cause = "I/O error" }), noon)
	want := "waiting for somebody to remove the cause, and then to resume the machine, which its host has suspended: I/O error"
	if got := d.outcome.Message(); got != want || d.outcome.Reason() != cloudnativev1alpha1.ReasonHeld {
		t.Errorf("it says %s, %q, want %q", d.outcome.Reason(), got, want)
	}
}

func TestSuspendAndResume(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.Events.Take()
	before := s.on("a", vm)
	s.edit(vm, runs(cloudnativev1alpha1.RunSuspended))
	s.want(vm, suspended, "Ready=True/Ready", "PowerSynced=True/Suspended", "ResourcesSynced=True/ResourcesSynced", "Stalled=False/NotStalled")
	s.wantEvents("Suspended")
	if got := s.on("a", vm).State; got != machine.StatePaused || !vm.Status.Server.Suspended {
		t.Errorf("the machine is %s, and the record says %t", got, vm.Status.Server.Suspended)
	}
	s.restart()
	s.settle(vm)
	s.want(vm, suspended, "Ready=True/Ready")
	s.edit(vm, runs(cloudnativev1alpha1.RunOnce))
	s.want(vm, active, "Ready=True/Ready", "PowerSynced=True/Running")
	s.wantEvents("Resumed")
	if after := s.on("a", vm); after.ID != before.ID || !after.StartedAt.Equal(before.StartedAt) || vm.Status.RestartCount != 0 || vm.Status.Server.Suspended {
		t.Errorf("the machine was %+v and is %+v; the status is %+v", before, after, vm.Status)
	}
}

// TestSuspendedMachineStaysOffAfterARestartOfItsHost also restarts the manager, which must not make it forget.
func TestSuspendedMachineStaysOffAfterARestartOfItsHost(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(runs(cloudnativev1alpha1.RunAlways))
	s.edit(vm, runs(cloudnativev1alpha1.RunSuspended))
	s.Events.Take()
	s.hosts["a"].Kill(identity(vm, "installation"))
	s.settle(vm)
	s.want(vm, stopped, "Ready=False/NotSuspended", "Stalled=True/NotSuspended", "PowerSynced=False/NotSuspended")
	s.wantEvents("NotSuspended")
	s.restart()
	s.step(time.Hour)
	s.settle(vm)
	s.want(vm, stopped, "Stalled=True/NotSuspended")
	s.wantEvents()
	if got := s.on("a", vm).State; got != machine.StateStopped {
		t.Errorf("the machine is %s", got)
	}
	s.edit(vm, runs(cloudnativev1alpha1.RunAlways))
	s.want(vm, active, "Ready=True/Ready")
	if vm.Status.Server.Suspended {
		t.Error("the record of the suspension outlives it")
	}
}

func TestMachineThatAPersonSuspendsIsHeld(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	person := s.hosts["a"].Open()
	if err := person.Suspend(t.Context(), identity(vm, "installation")); err != nil {
		t.Fatal(err)
	}
	s.settle(vm)
	s.want(vm, stopped, "Ready=False/Held", "PowerSynced=False/Held")
	if got := s.on("a", vm).State; got != machine.StatePaused {
		t.Errorf("the machine is %s", got)
	}
	if err := person.Start(t.Context(), identity(vm, "installation")); err != nil {
		t.Fatal(err)
	}
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
}

// TestMachineThatAKilledInstanceSuspendsLateRuns has a host that does what it was asked for seconds after the machine was resumed.
func TestMachineThatAKilledInstanceSuspendsLateRuns(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.edit(vm, runs(cloudnativev1alpha1.RunSuspended))
	s.edit(vm, runs(cloudnativev1alpha1.RunAlways))
	s.want(vm, active, "Ready=True/Ready")
	host := s.hosts["a"].Open()
	for _, late := range []struct {
		after time.Duration
		phase cloudnativev1alpha1.Phase
		want  string
	}{
		{5 * time.Second, active, "PowerSynced=True/Running"},
		{5 * time.Minute, stopped, "PowerSynced=False/Held"},
	} {
		s.step(late.after)
		if err := host.Suspend(t.Context(), identity(vm, "installation")); err != nil {
			t.Fatal(err)
		}
		s.settle(vm)
		s.want(vm, late.phase, late.want)
	}
	if vm.Status.Server.Suspended {
		t.Error("the suspension by somebody else counts as Windlass'")
	}
}

// TestMachineThatIsSuspendedAfterNobodyWantsItRuns kills the instance that asks a host to suspend a machine. Its successor finds the machine running, and
// the host does what it was asked for when the machine is to run again.
func TestMachineThatIsSuspendedAfterNobodyWantsItRuns(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	testkit.Edit(t, s.Harness, vm, runs(cloudnativev1alpha1.RunSuspended))
	s.pass(vm)
	if s.Get(t, vm); !vm.Status.Server.Suspended || s.on("a", vm).State != machine.StateRunning {
		t.Fatalf("after one pass the record says %t, and the machine is %s", vm.Status.Server.Suspended, s.on("a", vm).State)
	}
	s.restart()
	s.edit(vm, runs(cloudnativev1alpha1.RunAlways))
	if err := s.hosts["a"].Open().Suspend(t.Context(), identity(vm, "installation")); err != nil {
		t.Fatal(err)
	}
	s.settle(vm)
	s.want(vm, active, "PowerSynced=True/Running")
}

// TestCrashWhileAMachineIsSuspended restarts the manager after every pass, and loses the answer of the host: the machine is Windlass' to
// resume all the same.
func TestCrashWhileAMachineIsSuspended(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallSuspend, Late: true, Times: 1})
	testkit.Edit(t, s.Harness, vm, runs(cloudnativev1alpha1.RunSuspended))
	testkit.Eventually(t, "the machine is suspended", func() bool {
		s.pass(vm)
		s.restart()
		return s.on("a", vm).State == machine.StatePaused
	})
	s.edit(vm, runs(cloudnativev1alpha1.RunAlways))
	s.step(time.Minute) // after which a call that failed is tried again
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
}

func TestSuspendedMachineIsDeleted(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.edit(vm, runs(cloudnativev1alpha1.RunSuspended))
	s.want(vm, suspended)
	s.remove(vm)
	if !s.gone(vm) || s.count("a") != 0 {
		t.Errorf("the object is there: %t, and %d machines", !s.gone(vm), s.count("a"))
	}
}
