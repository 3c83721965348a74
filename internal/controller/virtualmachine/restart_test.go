// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// A container that was replaced, and whose first start the host refused, was started later as if the machine had never run.
func TestRestartIsCountedWhateverItsStartMeets(t *testing.T) {
	replace := func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) { s.edit(vm, image("busybox")) }
	restart := func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) {
		at := metav1.NewTime(s.Clock.Now())
		s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RestartAt = &at })
	}
	lose := func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) {
		s.hosts["a"].Remove(identity(vm, "installation"))
		s.settle(vm)
	}
	refused := simulated.Fault{Call: simulated.CallStart, Times: 1}
	lost := simulated.Fault{Call: simulated.CallStart, Times: 1, Late: true}
	for sentence, test := range map[string]struct {
		fault  simulated.Fault
		change func(*stage, *cloudnativev1alpha1.VirtualMachine)
	}{
		"a replaced container whose first start fails":      {refused, replace},
		"a replaced container whose first start is unknown": {lost, replace},
		"a restart that fails once":                         {refused, restart},
		"a restart whose answer is lost":                    {lost, restart},
		"a lost machine whose first start fails":            {refused, lose},
		"a lost machine whose first start is unknown":       {lost, lose},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t, simulated.Script{})
			vm := s.machine(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.UpdatePolicy = cloudnativev1alpha1.UpdateRestart })
			if vm.Status.RestartCount != 0 {
				t.Errorf("%d restarts before the first one", vm.Status.RestartCount)
			}
			s.step(time.Minute)
			s.hosts["a"].Inject(test.fault)
			test.change(s, vm)
			for range 3 { // the longest series of failures here waits for 40 s
				s.step(45 * time.Second)
				s.settle(vm)
			}
			s.want(vm, active, "Ready=True/Ready")
			if vm.Status.RestartCount != 1 {
				t.Errorf("%d restarts, want 1; the status is %+v", vm.Status.RestartCount, vm.Status)
			}
		})
	}
}

// A machine that was turned off for a size that needs a restart, and whose next start failed, stayed off with these strategies.
func TestFailedStartOfARestartLeavesNoMachineOff(t *testing.T) {
	for _, strategy := range []cloudnativev1alpha1.RunStrategy{cloudnativev1alpha1.RunOnce, cloudnativev1alpha1.RunRerunOnFailure} {
		for sentence, fault := range map[string]simulated.Fault{
			"once":                           {Call: simulated.CallStart, Times: 1},
			"twice":                          {Call: simulated.CallStart, Times: 2},
			"with its manager, which ended":  {Call: simulated.CallStart, Times: 1, Hang: true},
			"after a resize that was lost":   {Call: simulated.CallResize, Times: 1, Skip: 1, Err: machine.ErrUnreachable},
			"after a resize that is refused": {Call: simulated.CallResize, Times: 1, Skip: 1, Err: machine.ErrNoCapacity},
		} {
			t.Run(string(strategy)+" "+sentence, func(t *testing.T) {
				s := newStage(t, simulated.Script{Fixed: simulated.Fixed{CPU: true}})
				vm := s.machine(runs(strategy), func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.UpdatePolicy = cloudnativev1alpha1.UpdateRestart })
				s.hosts["a"].Inject(fault)
				testkit.Edit(t, s.Harness, vm, cpu("3"))
				off := func() bool { return s.on("a", vm).State == machine.StateStopped }
				testkit.Eventually(t, "the machine is off", func() bool { s.pass(vm); return off() })
				if fault.Hang {
					s.pass(vm) // which records the restart
					s.restart()
				}
				for range 3 { // the longest series of failures here waits for 40 s
					s.settle(vm)
					s.step(45 * time.Second)
				}
				s.want(vm, active, "PowerSynced=True/Running")
				if off() || vm.Status.RestartCount != 1 {
					t.Errorf("%d restarts, want 1; the status is %+v", vm.Status.RestartCount, vm.Status)
				}
			})
		}
	}
}

// A restart of a machine that is off came when something else woke the machine, minutes late.
func TestRestartIsNotMissedWhileTheMachineIsOff(t *testing.T) {
	t.Parallel()
	failed := func(reason string) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Status.StartFailure = &cloudnativev1alpha1.StartFailure{Count: 9, Reason: reason, RetryAfter: timeOf(noon.Add(5 * time.Minute))}
		}
	}
	off, none := state(machine.StateStopped), func(o *observation) { o.found = nil }
	broken := func(o *observation) { state(machine.StateStopped)(o); o.found.ExitCode = new(int32(1)) }
	once, always, halted := runs(cloudnativev1alpha1.RunOnce), runs(cloudnativev1alpha1.RunAlways), runs(cloudnativev1alpha1.RunHalted)
	for sentence, test := range map[string]struct {
		vm   []vmEdit
		seen func(*observation)
		want time.Duration
	}{
		"Once has ended in order":      {[]vmEdit{once}, off, time.Minute},
		"Once has ended with an error": {[]vmEdit{once}, broken, time.Minute},
		"Once has lost its machine":    {[]vmEdit{once, failed("InstanceLost")}, none, time.Minute},
		"Always waits after crashes":   {[]vmEdit{always, failed("Crashed")}, broken, time.Minute},
		"Halted is to stay off":        {[]vmEdit{halted}, off, 0},
		"Halted has lost its machine":  {[]vmEdit{halted, failed("InstanceLost")}, none, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			vm := aMachine(test.vm...)
			vm.Status.ObservedGeneration = 1
			vm.Spec.RestartAt = timeOf(noon.Add(time.Minute))
			if got := plan(vm, sees(vm, test.seen), noon).wake; got != test.want {
				t.Errorf("the next look is in %s, want %s", got, test.want)
			}
		})
	}
}

// What a manager before this one has recorded, and how its own operation ended, tell whose stop it was.
func TestOwnStopIsNotTheEndOfAMachine(t *testing.T) {
	t.Parallel()
	started := planned{Steps: []operation.Step{operation.Start}, Phase: "Creating", Reason: "Starting"}
	replaced := planned{Steps: []operation.Step{operation.Prepare, operation.Replace, operation.Start}, Phase: "Creating", Reason: "Replacing"}
	completed := planned{Phase: "Stopped"}
	// recorded is what the last pass has told of a machine that was in that state.
	recorded := func(state machine.State, reason string) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Status.Server = &cloudnativev1alpha1.Server{State: stateText(state), StartedAt: timeOf(noon.Add(-time.Hour))}
			vm.Status.Conditions = []metav1.Condition{{Type: "PowerSynced", Status: metav1.ConditionFalse, Reason: reason}}
		}
	}
	// rested is what it has told of a machine that was as a spec before wanted it.
	rested := func(reason string) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			recorded(machine.StateStopped, reason)(vm)
			vm.Status.Conditions[0].Status = metav1.ConditionTrue
		}
	}
	// away is what it has told when the host no longer answered.
	away := func(edit vmEdit) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			edit(vm)
			vm.Status.Conditions[0].Status = metav1.ConditionUnknown
		}
	}
	givenUp := func(left time.Duration) func(*observation) {
		return func(o *observation) { o.givenUp = noon.Add(left) }
	}
	failed := func(vm *cloudnativev1alpha1.VirtualMachine) {
		reason := vm.Status.Conditions[0].Reason
		vm.Status.StartFailure = &cloudnativev1alpha1.StartFailure{Count: 1, Reason: reason, RetryAfter: timeOf(noon.Add(-time.Second))}
	}
	changed := func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Generation++ }
	once, rerun, always := runs(cloudnativev1alpha1.RunOnce), runs(cloudnativev1alpha1.RunRerunOnFailure), runs(cloudnativev1alpha1.RunAlways)
	again := func(o *observation) { o.found.StartedAt = noon.Add(-time.Minute) }
	other := func(o *observation) { o.found.SpecHash = "another" }
	replacing := func(o *observation) { o.found.Replacing = true }
	broken := func(o *observation) { o.found.ExitCode = new(int32(137)) }
	ended := func(at operation.Step, err error, steps ...operation.Step) func(*observation) {
		return func(o *observation) {
			of := operation.Operation{Reason: "Restarting", Steps: steps, Generation: 1}
			o.op = &operation.Progress{Operation: of, At: at, Done: true, Began: noon, Err: err}
			o.op.Canceled = errors.Is(err, context.Canceled)
		}
	}
	// cutOff is what a guest shows whose host went away between its record of a run and that run.
	cutOff := func(steps ...operation.Step) []func(*observation) {
		return []func(*observation){again, ended(operation.Start, machine.ErrUnreachable, steps...)}
	}
	waits := planned{Phase: "Failed", Reason: "StartFailed"}
	tests := map[string]struct {
		vm   []vmEdit
		seen []func(*observation)
		want planned
	}{
		"Once, and its manager ended after the stop":           {[]vmEdit{once, recorded(machine.StateRunning, "Restarting")}, nil, started},
		"RerunOnFailure, and its manager ended after the stop": {[]vmEdit{rerun, recorded(machine.StateRunning, "Restarting")}, nil, started},
		"Always, and its manager ended after the stop":         {[]vmEdit{always, recorded(machine.StateRunning, "Restarting")}, nil, started},
		"a manager ended while the machine was on its way off": {
			[]vmEdit{once, recorded(machine.StateRunning, "Restarting")}, []func(*observation){state(machine.StateStopping)}, planned{Reason: "Restarting"},
		},
		"a manager ended while it replaced the machine": {[]vmEdit{once, recorded(machine.StateRunning, "Replacing")}, []func(*observation){other, replacing}, replaced},
		"a start that failed is due again":              {[]vmEdit{once, recorded(machine.StateStopped, "StartFailed"), failed}, nil, started},
		"a start that failed, and another spec":         {[]vmEdit{once, recorded(machine.StateStopped, "StartFailed"), failed, changed}, nil, started},
		"a manager ended during the next start":         {[]vmEdit{once, recorded(machine.StateStopped, "Starting")}, nil, started},
		"a start that waited for the end of a pause":    {[]vmEdit{once, recorded(machine.StateStopped, "Paused")}, nil, started},
		"a stop that was given up came too late": {
			[]vmEdit{once}, []func(*observation){ended(operation.Stop, context.Canceled, operation.Stop, operation.Start)}, started,
		},
		"Once, and the machine was to be off":              {[]vmEdit{once, rested("Stopped")}, nil, started},
		"RerunOnFailure, and the machine was to be off":    {[]vmEdit{rerun, rested("Stopped")}, nil, started},
		"Once, and the machine was to be suspended":        {[]vmEdit{once, rested("Suspended")}, nil, started},
		"Once, and the machine could not be suspended":     {[]vmEdit{once, recorded(machine.StateStopped, "NotSuspended")}, nil, started},
		"Once, and the machine was turned off at the end":  {[]vmEdit{once}, []func(*observation){ended(operation.Stop, nil, operation.Stop)}, started},
		"Once, and a stop that was given up came later":    {[]vmEdit{once, recorded(machine.StateRunning, "")}, []func(*observation){givenUp(time.Second)}, started},
		"Always, and a stop that was given up came later":  {[]vmEdit{always, recorded(machine.StateRunning, "")}, []func(*observation){givenUp(time.Second)}, started},
		"Once, and it has ended long after such a stop":    {[]vmEdit{once, recorded(machine.StateRunning, "")}, []func(*observation){givenUp(-time.Second)}, completed},
		"Once, and it had ended before, and was to wait":   {[]vmEdit{once, recorded(machine.StateStopped, "Stopped"), failed}, nil, completed},
		"Once, and it has ended after it was to be off":    {[]vmEdit{once, rested("Stopped")}, []func(*observation){again}, completed},
		"Once, and its host was away after the stop":       {[]vmEdit{once, away(recorded(machine.StateRunning, "Restarting"))}, nil, started},
		"Once, and its host was away after a replacement":  {[]vmEdit{once, away(recorded(machine.StateRunning, "Replacing"))}, []func(*observation){replacing}, started},
		"Once, and its host was away after a failed start": {[]vmEdit{once, away(recorded(machine.StateStopped, "StartFailed")), failed}, nil, started},
		"Once, and its host was away while it was off":     {[]vmEdit{once, away(rested("Stopped"))}, nil, started},
		"Once, and its host was away after it had ended":   {[]vmEdit{once, away(recorded(machine.StateStopped, "Stopped")), failed}, nil, completed},
		"Once, and its host was away while it ran":         {[]vmEdit{once, away(recorded(machine.StateRunning, "NotObserved"))}, []func(*observation){replacing}, completed},
		"Once, and it has crashed beside what was to replace it": {
			[]vmEdit{once, recorded(machine.StateStopped, "Crashed")}, []func(*observation){replacing, broken}, planned{Phase: "Failed", Reason: "Crashed"},
		},

		"Once, and its first start was cut off":             {[]vmEdit{once, recorded(machine.StateCreated, "Starting")}, cutOff(operation.Start), waits},
		"RerunOnFailure, and its first start was cut off":   {[]vmEdit{rerun, recorded(machine.StateCreated, "Starting")}, cutOff(operation.Start), waits},
		"Once, and its restart was cut off":                 {[]vmEdit{once, recorded(machine.StateRunning, "Restarting")}, cutOff(operation.Stop, operation.Start), waits},
		"RerunOnFailure, and its restart was cut off":       {[]vmEdit{rerun, recorded(machine.StateRunning, "Restarting")}, cutOff(operation.Stop, operation.Start), waits},
		"Once, and its start was cut off, for another spec": {[]vmEdit{once, recorded(machine.StateCreated, "Starting"), changed}, cutOff(operation.Start), started},
		"Once, and it has ended after a start without an answer": {
			[]vmEdit{once, recorded(machine.StateCreated, "Starting")}, append(cutOff(operation.Start), broken), planned{Phase: "Failed", Reason: "Crashed"},
		},

		"the machine has run since the restart":        {[]vmEdit{once, recorded(machine.StateRunning, "Restarting")}, []func(*observation){again}, completed},
		"the machine has run since the next start":     {[]vmEdit{once, recorded(machine.StateStopped, "Starting")}, []func(*observation){again}, completed},
		"the machine has ended after its first start":  {[]vmEdit{once, recorded(machine.StateCreated, "Starting")}, nil, completed},
		"the machine has ended after a failed stop":    {[]vmEdit{once, recorded(machine.StateRunning, "StopFailed"), failed}, nil, completed},
		"the machine has ended before its replacement": {[]vmEdit{once, recorded(machine.StateRunning, "Replacing")}, nil, completed},
		"the machine has ended while an image was fetched": {
			[]vmEdit{once}, []func(*observation){ended(operation.Prepare, context.Canceled, operation.Prepare, operation.Replace, operation.Start)}, completed,
		},
		"the machine has ended after a restart": {
			[]vmEdit{once, recorded(machine.StateRunning, "Restarting")}, []func(*observation){ended(operation.Start, nil, operation.Stop, operation.Start)}, completed,
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			vm := aMachine(test.vm...)
			vm.Status.ObservedGeneration = 1
			got := plannedOf(plan(vm, sees(vm, append([]func(*observation){state(machine.StateStopped)}, test.seen...)...), noon))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The record of a start that was cut off counted as a restart that had been done.
func TestRestartThatWasCutOffIsNotCounted(t *testing.T) {
	t.Parallel()
	vm := aMachine(runs(cloudnativev1alpha1.RunOnce), func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status.ObservedGeneration = 1
		vm.Status.Server = &cloudnativev1alpha1.Server{State: stateText(machine.StateRunning), StartedAt: timeOf(noon.Add(-time.Hour))}
	})
	d := plan(vm, sees(vm, state(machine.StateStopped), func(o *observation) {
		o.found.StartedAt = noon.Add(-time.Second)
		of := operation.Operation{Reason: "Restarting", Steps: []operation.Step{operation.Stop, operation.Start}, Generation: 1, Again: true}
		o.op = &operation.Progress{Operation: of, At: operation.Start, Done: true, Began: noon.Add(-time.Minute), Err: machine.ErrUnreachable}
	}), noon)
	if d.restarted || d.finished {
		t.Errorf("restarted %t, finished %t, want neither", d.restarted, d.finished)
	}
}

// A machine that was turned off, or was off when it was to be suspended, stayed off: it had "ended by itself".
func TestMachineThatWasTurnedOffStaysOff(t *testing.T) {
	for _, strategy := range []cloudnativev1alpha1.RunStrategy{cloudnativev1alpha1.RunOnce, cloudnativev1alpha1.RunRerunOnFailure} {
		for _, rest := range []cloudnativev1alpha1.RunStrategy{cloudnativev1alpha1.RunHalted, cloudnativev1alpha1.RunSuspended} {
			t.Run(string(rest)+" "+string(strategy), func(t *testing.T) {
				s := newStage(t, simulated.Script{})
				vm := s.machine(runs(cloudnativev1alpha1.RunHalted))
				s.edit(vm, runs(strategy))
				s.want(vm, active, "Ready=True/Ready")
				s.edit(vm, runs(cloudnativev1alpha1.RunHalted))
				s.edit(vm, runs(rest))
				s.want(vm, stopped)
				s.edit(vm, runs(strategy))
				s.want(vm, active, "Ready=True/Ready")
			})
		}
	}
}

// A machine was to be off, and soon after to run again. The host went on with the stop: with Once, the machine stayed off, and with Always it had crashed.
func TestStopThatIsGivenUpComesLater(t *testing.T) {
	for _, strategy := range []cloudnativev1alpha1.RunStrategy{cloudnativev1alpha1.RunOnce, cloudnativev1alpha1.RunAlways} {
		t.Run(string(strategy), func(t *testing.T) {
			s := newStage(t, simulated.Script{})
			vm := s.machine(runs(strategy))
			s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallStop, Hang: true, Times: 1})
			testkit.Edit(t, s.Harness, vm, runs(cloudnativev1alpha1.RunHalted))
			s.pass(vm)
			s.edit(vm, runs(strategy))
			s.want(vm, active, "PowerSynced=True/Running")
			s.step(20 * time.Second)
			s.hosts["a"].Kill(identity(vm, "installation"))
			s.settle(vm)
			s.want(vm, active, "Ready=True/Ready")

			// What ends later has ended by itself.
			s.hosts["a"].Kill(identity(vm, "installation"))
			s.settle(vm)
			if vm.Status.Phase == active || s.on("a", vm).State != machine.StateStopped {
				t.Errorf("the status is %+v", vm.Status)
			}
		})
	}
}

// A change that was taken back did not end the replacement that it had begun, which waited for as long as the machine's grace for a program that ignores its stop,
// and then replaced the machine by one that nobody wanted any more. That program can still obey later.
func TestReplacementThatIsTakenBackGoesOn(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(runs(cloudnativev1alpha1.RunOnce), func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.UpdatePolicy = cloudnativev1alpha1.UpdateRestart
	})
	s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallReplace, Hang: true, Times: 1})
	testkit.Edit(t, s.Harness, vm, image("nginx"))
	s.pass(vm)
	testkit.Eventually(t, "the replacement has begun", func() bool {
		op := s.operations.Look(client.ObjectKeyFromObject(vm), vm.UID)
		return op != nil && op.At == operation.Replace
	})
	s.edit(vm, image(""))
	s.want(vm, active, "PowerSynced=True/Running")
	s.step(20 * time.Second)
	s.hosts["a"].Kill(identity(vm, "installation"))
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
}

// besideOthers is a host where something was made to replace each machine, and was left when a manager ended.
type besideOthers struct{ machine.Driver }

// Get implements machine.Driver.
func (d besideOthers) Get(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	found, err := d.Driver.Get(ctx, id)
	found.Replacing = err == nil
	return found, err
}

// A container took its time to obey the stop of a replacement. The manager was replaced and the change taken back meanwhile: with Once, the container stayed
// off, and with Always it had crashed.
func TestContainerThatObeysTheStopOfATakenBackChangeStaysOff(t *testing.T) {
	for _, strategy := range []cloudnativev1alpha1.RunStrategy{cloudnativev1alpha1.RunOnce, cloudnativev1alpha1.RunAlways} {
		for after, started := range map[time.Duration]bool{20 * time.Second: true, time.Hour: false} {
			t.Run(fmt.Sprintf("%s ends after %s", strategy, after), func(t *testing.T) {
				s := newStage(t, simulated.Script{})
				vm := s.machine(runs(strategy))
				testkit.EditStatus(t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
					power := apimeta.FindStatusCondition(vm.Status.Conditions, cloudnativev1alpha1.ConditionPowerSynced)
					power.Status, power.Reason = metav1.ConditionFalse, cloudnativev1alpha1.ReasonReplacing
				})
				open := s.open
				s.open = func(ctx context.Context, host machine.Host) (machine.Driver, error) {
					driver, err := open(ctx, host)
					return besideOthers{driver}, err
				}
				s.restart()
				s.settle(vm)
				s.want(vm, active, "PowerSynced=True/Running")
				s.step(after)
				s.hosts["a"].Kill(identity(vm, "installation"))
				s.settle(vm)
				if got := vm.Status.Phase == active; got != started {
					t.Errorf("the machine was started: %t, want %t; the status is %+v", got, started, vm.Status)
				}
			})
		}
	}
}

// What was under way when a host went away was forgotten: a machine that was off for that counted as one that had ended by itself.
func TestOutageHidesWhoseStopItWas(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.edit(vm, runs(cloudnativev1alpha1.RunHalted))
	s.freeze("a")
	s.edit(vm, runs(cloudnativev1alpha1.RunOnce))
	s.want(vm, unknown, "Ready=False/DriverUnreachable", "PowerSynced=Unknown/Stopped")
	s.thaw("a")
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
}

// beforeLook is a host where something happens just before it is asked for a machine.
type beforeLook struct {
	machine.Driver

	happens func(ctx context.Context, driver machine.Driver, id machine.Identity)
}

// Get implements machine.Driver.
func (d beforeLook) Get(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	d.happens(ctx, d.Driver, id)
	return d.Driver.Get(ctx, id)
}

// The start of a manager that was killed reached a slow host while the next manager was looking. It was taken for one of a host whose clock is
// ahead, and the machine was restarted a second time.
func TestRestartIsNotRepeatedIfItArrivesDuringALook(t *testing.T) {
	s := newStage(t, simulated.Script{})
	var due atomic.Bool
	open := s.open
	s.open = func(ctx context.Context, host machine.Host) (machine.Driver, error) {
		driver, err := open(ctx, host)
		return beforeLook{driver, func(ctx context.Context, driver machine.Driver, id machine.Identity) {
			if !due.CompareAndSwap(true, false) {
				return
			}
			s.step(2 * time.Second)
			if err := driver.Stop(ctx, id, machine.PowerOff{Mode: machine.Hard}); err != nil {
				t.Error(err)
			}
			if err := driver.Start(ctx, id); err != nil {
				t.Error(err)
			}
		}}, err
	}
	s.restart()
	vm := s.machine()
	s.step(time.Minute)
	due.Store(true)
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RestartAt = new(metav1.NewTime(s.Clock.Now())) })
	s.want(vm, active, "Ready=True/Ready")
	if found := s.on("a", vm); vm.Status.RestartCount != 1 || vm.Status.LastRestartTime == nil || due.Load() {
		t.Errorf("%d restarts, want 1; the status is %+v, the machine %+v", vm.Status.RestartCount, vm.Status, found)
	}
}
