// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
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
