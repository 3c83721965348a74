// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
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
