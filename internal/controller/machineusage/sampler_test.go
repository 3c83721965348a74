// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machineusage

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// stage is a simulated host, an API server, and a Sampler between them.
type stage struct {
	*testkit.Harness

	t       *testing.T
	clock   *clocktesting.FakeClock
	driver  machine.Driver
	host    string
	sampler *Sampler
}

// hostClock runs what is due in a goroutine of its own, because the one who steps the clock holds its lock.
type hostClock struct{ *clocktesting.FakeClock }

// AfterFunc implements clock.WithDelayedExecution.
func (c hostClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	return c.FakeClock.AfterFunc(d, func() { go f() })
}

func newStage(t *testing.T, mode Mode) *stage {
	t.Helper()
	t.Parallel()
	h := testkit.New(t, kube.AddMachineIndexes)
	s := &stage{Harness: h, t: t, clock: clocktesting.NewFakeClock(h.Clock.Now()), host: h.Namespace(t)}
	host := simulated.NewHost(simulated.Script{Clock: hostClock{s.clock}})
	s.driver = host.Open()
	machines := fleet.New(
		[]machine.Host{{Name: s.host, Driver: machine.DriverSimulated, Endpoint: "simulated://"}},
		fleet.Options{Installation: "installation", Open: func(context.Context, machine.Host) (machine.Driver, error) { return host.Open(), nil }},
	)
	testkit.Background(t, machines.Start)
	testkit.Eventually(t, "the host is up", func() bool { return machines.Health(s.host).Err == nil })
	s.sampler = New(Options{
		Client: h.Client, Fleet: machines, Calls: NewCalls(), Now: h.Clock.Now, Installation: "installation", Mode: mode,
	})
	return s
}

// machine returns an object whose machine runs, and uses a quarter of its two CPUs.
func (s *stage) machine() *cloudnativev1alpha1.VirtualMachine {
	s.t.Helper()
	vm := &cloudnativev1alpha1.VirtualMachine{Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4G"),
	}}}
	vm.Namespace, vm.Name = s.host, "test-vm"
	s.Create(s.t, vm)
	testkit.EditStatus(s.t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status.Phase = cloudnativev1alpha1.PhaseActive
		vm.Status.Server = &cloudnativev1alpha1.Server{Driver: machine.DriverSimulated, Host: s.host, State: "running"}
	})
	spec := machine.Spec{
		Identity:  machine.Identity{Installation: "installation", UID: string(vm.UID), Namespace: vm.Namespace, Name: vm.Name},
		Resources: machine.Resources{MilliCPU: 2000, MemoryBytes: 4_000_000_000},
		Image:     machine.Image{Name: "example", PullPolicy: machine.PullIfNotPresent},
		Env:       []machine.EnvVar{{Name: simulated.EnvLoad, Value: "0.25"}},
	}
	if err := s.driver.Prepare(s.t.Context(), spec); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.driver.Create(s.t.Context(), spec); err != nil {
		s.t.Fatal(err)
	}
	if err := s.driver.Start(s.t.Context(), spec.Identity); err != nil {
		s.t.Fatal(err)
	}
	return vm
}

// sample samples the host after a period.
func (s *stage) sample(vm *cloudnativev1alpha1.VirtualMachine) {
	s.t.Helper()
	s.step(15 * time.Second)
	s.Sync(s.t)
	if err := s.sampler.Sample(s.t.Context(), s.host); err != nil {
		s.t.Fatal(err)
	}
	s.Get(s.t, vm)
}

func (s *stage) step(d time.Duration) {
	s.Clock.Step(d)
	s.clock.Step(d)
}

// TestDefect15: usage was always zero on newer hosts.
func TestDefect15UsageIsMeasured(t *testing.T) {
	s := newStage(t, Coarse)
	vm := s.machine()
	s.sample(vm)
	if vm.Status.Server.Usage != nil {
		t.Error("one sample makes no usage")
	}
	s.sample(vm)
	want := &cloudnativev1alpha1.Usage{CPU: 25, CPUCores: 0.5, Memory: 30, MemoryBytes: 1_200_000_000}
	if vm.Status.Server.Usage != nil {
		want.SampledAt = vm.Status.Server.Usage.SampledAt
	}
	if diff := cmp.Diff(want, vm.Status.Server.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if vm.Status.Server.State != "running" || vm.Status.Phase != cloudnativev1alpha1.PhaseActive {
		t.Errorf("the rest of the status has changed: %+v", vm.Status)
	}
}

func TestUsageIsWrittenSeldom(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		mode   Mode
		writes int
	}{
		"off never writes":                        {Off, 0},
		"coarse writes once in five minutes":      {Coarse, 4},
		"every writes every sample but the first": {Every, 79},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, tc.mode)
			vm := s.machine()
			before := s.Writes()
			for range 80 { // twenty minutes
				s.sample(vm)
			}
			if got := s.Writes() - before; got != tc.writes {
				t.Errorf("there were %d writes, want %d", got, tc.writes)
			}
		})
	}
}

// The manager was restarted with --usage-in-status=off: the table showed the usage of that moment for months.
func TestUsageOfAnotherModeStaysForEver(t *testing.T) {
	s := newStage(t, Off)
	vm := s.machine()
	testkit.EditStatus(t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status.Server.Usage = &cloudnativev1alpha1.Usage{CPU: 90, Memory: 40}
	})
	before := s.Writes()
	for range 3 {
		s.sample(vm)
	}
	if vm.Status.Server.Usage != nil || vm.Status.Server.State != "running" {
		t.Errorf("server is %+v, want no usage and all else as it was", vm.Status.Server)
	}
	if got := s.Writes() - before; got != 1 {
		t.Errorf("there were %d writes, want 1", got)
	}
}

func TestMetricsOfMachines(t *testing.T) {
	s := newStage(t, Coarse)
	vm := s.machine()
	s.sample(vm)
	s.sample(vm)
	names := func() []string {
		t.Helper()
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(s.sampler.collector(t.Context()))
		s.Sync(t)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				for _, label := range metric.GetLabel() {
					if label.GetName() == "namespace" && label.GetValue() == s.host {
						out = append(out, family.GetName())
					}
				}
			}
		}
		return out
	}
	all := []string{
		"windlass_vm_cpu_limit_cores", "windlass_vm_cpu_seconds_total", "windlass_vm_cpu_usage_cores", "windlass_vm_info",
		"windlass_vm_memory_limit_bytes", "windlass_vm_memory_working_set_bytes", "windlass_vm_phase", "windlass_vm_sample_age_seconds",
	}
	if diff := cmp.Diff(all, names()); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	s.step(5 * time.Minute)
	if diff := cmp.Diff([]string{"windlass_vm_info", "windlass_vm_phase", "windlass_vm_sample_age_seconds"}, names()); diff != "" {
		t.Errorf("metrics of an old sample (-want +got):\n%s", diff)
	}
	if err := s.Live.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	if got := names(); len(got) != 0 {
		t.Errorf("metrics of a machine that is gone: %v", got)
	}
}

func TestMetricsOfHosts(t *testing.T) {
	s := newStage(t, Coarse)
	s.sampler.calls.Measure(s.host, "get", time.Second, machine.ErrBusy)
	s.sampler.calls.Measure(s.host, "get", time.Second, machine.ErrNotFound)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s.sampler.collector(t.Context()))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			switch family.GetName() {
			case "windlass_vm_host_up":
				got[family.GetName()] = metric.GetGauge().GetValue()
			case "windlass_vm_driver_call_errors_total":
				got[family.GetName()] += metric.GetCounter().GetValue()
			case "windlass_vm_driver_call_duration_seconds":
				got[family.GetName()] = float64(metric.GetHistogram().GetSampleCount())
			}
		}
	}
	want := map[string]float64{
		"windlass_vm_host_up": 1, "windlass_vm_driver_call_errors_total": 1, "windlass_vm_driver_call_duration_seconds": 2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
