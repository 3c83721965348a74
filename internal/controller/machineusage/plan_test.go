// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machineusage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestFollow(t *testing.T) {
	t.Parallel()
	first := machine.Sample{At: noon, Boot: "1", CPU: time.Second, MemoryBytes: 10}
	later := func(change func(*machine.Sample)) machine.Sample {
		next := machine.Sample{At: noon.Add(10 * time.Second), Boot: "1", CPU: 6 * time.Second, MemoryBytes: 20}
		change(&next)
		return next
	}
	same := func(*machine.Sample) {}
	soon := func(s *machine.Sample) { s.At, s.CPU = noon.Add(time.Millisecond), first.CPU }
	booted := func(s *machine.Sample) { s.Boot = "2" }
	setBack := func(s *machine.Sample) { s.At = noon.Add(-time.Hour) }
	fallen := func(s *machine.Sample) { s.CPU = first.CPU / 2 }
	host := machine.Resources{MilliCPU: 1000, MemoryBytes: 100}
	cases := map[string]struct {
		known bool
		later machine.Sample
		want  sample
		isNew bool
	}{
		"one sample makes no usage":          {false, later(same), sample{counters: later(same)}, true},
		"a sample too soon is ignored":       {true, later(soon), sample{counters: first}, false},
		"after a boot, the counters restart": {true, later(booted), sample{counters: later(booted), usage: machine.Usage{MemoryPercent: 20, MemoryBytes: 20, SampledAt: noon.Add(10 * time.Second)}}, true},
		"after the host's clock was set back, the time restarts": {true, later(setBack), sample{
			counters: later(setBack), usage: machine.Usage{MemoryPercent: 20, MemoryBytes: 20, SampledAt: noon.Add(-time.Hour)},
		}, true},
		"a counter that has fallen restarts": {true, later(fallen), sample{
			counters: later(fallen), usage: machine.Usage{MemoryPercent: 20, MemoryBytes: 20, SampledAt: noon.Add(10 * time.Second)},
		}, true},
		"two samples make usage": {true, later(same), sample{
			counters: later(same), measured: true, usage: machine.Usage{
				CPUPercent: 50, CPUCores: 0.5, MemoryPercent: 20, MemoryBytes: 20, SampledAt: noon.Add(10 * time.Second),
			},
		}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, isNew := follow(sample{counters: first}, tc.known, tc.later, host)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(sample{})); diff != "" || isNew != tc.isNew {
				t.Errorf("new is %t; sample (-want +got):\n%s", isNew, diff)
			}
		})
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	// shown is the usage in the status, of that age at noon.
	shown := func(age time.Duration, cpu, memory float64) func(*cloudnativev1alpha1.VirtualMachine) {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Status.Server.Usage = &cloudnativev1alpha1.Usage{
				CPU: cloudnativev1alpha1.Percent(cpu), Memory: cloudnativev1alpha1.Percent(memory),
				SampledAt: new(metav1.NewTime(noon.Add(-age))),
			}
		}
	}
	never := func(*cloudnativev1alpha1.VirtualMachine) {}
	cases := map[string]struct {
		mode Mode
		vm   func(*cloudnativev1alpha1.VirtualMachine)
		want bool
	}{
		"the first usage is due":                   {Coarse, never, true},
		"the mode off writes nothing":              {Off, never, false},
		"the mode every writes every sample":       {Every, shown(time.Second, 25, 30), true},
		"usage that stays is not due":              {Coarse, shown(4*time.Minute, 25, 30), false},
		"usage of six minutes is due":              {Coarse, shown(6*time.Minute, 25, 30), true},
		"usage from before the clock was set back": {Coarse, shown(-time.Hour, 25, 30), true},
		"CPU that has moved by ten points is due":  {Coarse, shown(time.Second, 35, 30), true},
		"CPU that has moved by nine points is not": {Coarse, shown(time.Second, 34, 30), false},
		"memory that has moved is due":             {Coarse, shown(time.Second, 25, 20), true},
		"a machine that is off uses nothing":       {Every, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Status.Server.State = "stopped" }, false},
		"a machine without a status waits":         {Every, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Status.Server = nil }, false},
		"an object that is being deleted is left alone": {Every, func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.DeletionTimestamp = new(metav1.NewTime(noon))
		}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vm := &cloudnativev1alpha1.VirtualMachine{}
			vm.UID, vm.Status.Server = "1", &cloudnativev1alpha1.Server{State: "running"}
			tc.vm(vm)
			if got := due(tc.mode, vm, machine.Usage{CPUPercent: 25, MemoryPercent: 30, SampledAt: noon}); got != tc.want {
				t.Errorf("due is %t, want %t", got, tc.want)
			}
		})
	}
}
