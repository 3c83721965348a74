// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// sample lets a period go by and samples the host.
func (s *stage) sample(vm *cloudnativev1alpha1.VirtualMachine) {
	s.t.Helper()
	s.step(15 * time.Second)
	s.Sync(s.t)
	if err := s.r.sampler.sample(s.t.Context(), s.name("a")); err != nil {
		s.t.Fatal(err)
	}
	s.Get(s.t, vm)
}

// TestDefect15: usage was always nothing on newer hosts.
func TestDefect15UsageIsMeasured(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(env(simulated.EnvLoad, "0.25"))
	s.sample(vm)
	if vm.Status.Server.Usage != nil {
		t.Error("one sample makes no usage")
	}
	s.sample(vm)
	usage := vm.Status.Server.Usage
	if usage == nil || usage.CPU != 25 || usage.CPUCores != 0.5 || usage.Memory != 30 || usage.MemoryBytes != 1_200_000_000 {
		t.Fatalf("usage is %+v", usage)
	}
	s.settle(vm)
	if diff := cmp.Diff(usage, vm.Status.Server.Usage); diff != "" {
		t.Errorf("a pass changes the usage (-want +got):\n%s", diff)
	}
	s.edit(vm, runs(cloudnativev1alpha1.RunHalted))
	if vm.Status.Server.Usage != nil {
		t.Error("a machine that is off uses something")
	}
}

func TestUsageIsWrittenSeldom(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		mode   UsageMode
		writes func(n int) bool
	}{
		"off is never": {UsageOff, func(n int) bool { return n == 0 }},
		"coarse is once, and once in five minutes": {UsageCoarse, func(n int) bool { return n == 4 }},
		"every is with each sample":                {UsageEvery, func(n int) bool { return n == 79 }},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			s := newStageOf(t, map[string]simulated.Script{"a": {}}, func(o *Options) { o.Usage = test.mode })
			vm := s.machine(env(simulated.EnvLoad, "0.25"))
			before := s.Writes()
			for range 80 { // twenty minutes
				s.sample(vm)
			}
			if n := s.Writes() - before; !test.writes(n) {
				t.Errorf("there were %d writes", n)
			}
		})
	}
}

func TestUsageThatMovesIsWritten(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(env(simulated.EnvLoad, "0.25"))
	s.sample(vm)
	s.sample(vm)
	// The same work is more of half the processors.
	s.edit(vm, cpu("1"))
	s.sample(vm)
	s.edit(vm, cpu("4"))
	before := s.Writes()
	s.sample(vm)
	if n := s.Writes() - before; n != 0 {
		t.Errorf("a load that is the same share was written %d times", n)
	}
	vm.Status.Server.Usage.CPU += 11
	if !s.r.sampler.due(vm, machine.Usage{CPUPercent: 25, MemoryPercent: 30, SampledAt: s.Clock.Now()}) {
		t.Error("eleven points are not due")
	}
	vm.Status.Server.Usage.CPU -= 2
	if s.r.sampler.due(vm, machine.Usage{CPUPercent: 25, MemoryPercent: 30, SampledAt: s.Clock.Now()}) {
		t.Error("nine points are due")
	}
}

func TestUsageIsNoNews(t *testing.T) {
	t.Parallel()
	was := aMachine(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Status.Server = &cloudnativev1alpha1.Server{ID: "x"} })
	is := was.DeepCopy()
	is.Status.Server.Usage, is.ResourceVersion = &cloudnativev1alpha1.Usage{CPU: 1}, "2"
	if changed().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}) {
		t.Error("usage wakes up the controller")
	}
	is.Generation++
	if !changed().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}) {
		t.Error("a change of the spec does not")
	}
}

func TestMetricsOfMachines(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(env(simulated.EnvLoad, "0.25"))
	s.sample(vm)
	s.sample(vm)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s.r.sampler)
	names := func() []string {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, family := range families {
			out = append(out, family.GetName())
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
		t.Errorf("metrics of old samples (-want +got):\n%s", diff)
	}
	s.remove(vm)
	if got := names(); len(got) != 0 {
		t.Errorf("metrics of a machine that is gone: %v", got)
	}
}

// orphan makes a machine that no object stands for, as one whose finalizer was removed by hand leaves it.
func (s *stage) orphan() *cloudnativev1alpha1.VirtualMachine {
	s.t.Helper()
	vm := s.machine()
	testkit.Edit(s.t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Finalizers = nil })
	if err := s.Live.Delete(s.t.Context(), vm); err != nil {
		s.t.Fatal(err)
	}
	s.Events.Take()
	return vm
}

func (s *stage) sweep() {
	s.t.Helper()
	s.Sync(s.t)
	if err := s.r.sweeper.sweep(s.t.Context(), s.name("a")); err != nil {
		s.t.Fatal(err)
	}
}

func TestOrphansAreReported(t *testing.T) {
	s := newStage(t, simulated.Script{})
	wanted := s.machine(named("default", "wanted"))
	orphan := s.orphan()
	for range 3 {
		s.sweep()
		s.step(time.Hour)
	}
	s.wantEvents("Orphaned")
	if s.on("a", orphan) == nil || s.on("a", wanted) == nil {
		t.Error("a machine was removed")
	}
}

func TestOrphansAreDeletedAfterTheGraceWhereThePolicySaysSo(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": {}}, func(o *Options) { o.DeleteOrphans = true })
	wanted := s.machine(named("default", "wanted"))
	// Of another installation on the same host: it is none of our business.
	foreign := identity(aMachine(), "another")
	driver := s.hosts["a"].Open()
	spec := machine.Spec{Identity: foreign, Image: machine.Image{Name: cloudnativev1alpha1.DefaultImage}}
	if _, err := driver.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	orphan := s.orphan()
	s.sweep()
	s.step(9 * time.Minute)
	s.sweep()
	if s.on("a", orphan) == nil {
		t.Fatal("it was deleted before the grace was over")
	}
	s.step(time.Minute)
	s.sweep()
	s.wantEvents("Orphaned", "OrphanDeleted")
	if s.on("a", orphan) != nil || s.on("a", wanted) == nil {
		t.Error("the wrong one was deleted")
	}
	if _, err := driver.Get(t.Context(), foreign); err != nil {
		t.Errorf("the machine of another installation: %v", err)
	}
}

func TestRetainedMachinesAreNoOrphans(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": {}}, func(o *Options) { o.DeleteOrphans = true })
	retain := func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.DeletionPolicy = cloudnativev1alpha1.DeletionRetain
	}
	one, two := s.machine(retain), s.machine(named("default", "two"), retain)
	s.remove(one)
	s.remove(two)
	s.restart()
	for range 3 {
		s.sweep()
		s.step(time.Hour)
	}
	if s.on("a", one) == nil || s.on("a", two) == nil || !s.gone(one) {
		t.Error("a machine that was to stay is gone, or its object is not")
	}
	if slices.Contains(s.Events.Reasons(), "Orphaned") {
		t.Error("a machine that was to stay was reported")
	}
	// The entry goes with its machine.
	s.hosts["a"].Remove(identity(one, "installation"))
	s.sweep()
	list := &corev1.ConfigMap{}
	list.Namespace, list.Name = s.namespace, retainedName
	if !s.Get(t, list) || len(list.Data) != 1 || list.Data[string(two.UID)] == "" {
		t.Errorf("the list is %v", list.Data)
	}
}

func TestSecretsAreUsedAndNeverShown(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Image = cloudnativev1alpha1.Image{
			Name: "registry.example/refused:1", PullSecret: &cloudnativev1alpha1.LocalSecret{Name: "registry"},
		}
	})
	s.want(vm, waiting, "Ready=False/Pending", "Reconciling=True/SecretNotFound")
	secret := &corev1.Secret{Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{
		corev1.DockerConfigJsonKey: []byte(`{"auths":{"registry.example":{"username":"me","password":"hunter2"}}}`),
	}}
	secret.Namespace, secret.Name = s.namespace, "registry"
	s.Create(t, secret)
	s.settle(vm)
	s.want(vm, pulling, "Ready=False/ImagePullFailed")
	told := []string{vm.Status.Reason}
	for _, condition := range vm.Status.Conditions {
		told = append(told, condition.Message)
	}
	for _, e := range s.Events.Take() {
		told = append(told, e.Note)
	}
	if raw := strings.Join(told, "\n"); strings.Contains(raw, "hunter2") {
		t.Errorf("the password is told: %s", raw)
	}
	held, err := s.r.readSecrets(t.Context(), vm)
	want := &machine.RegistryAuth{Username: "me", Password: "hunter2", ServerAddress: "registry.example"}
	if diff := cmp.Diff(want, held.registry); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestOperationsEndWithTheManager is about a manager that is told to end while an image comes.
func TestOperationsEndWithTheManager(t *testing.T) {
	s := newStage(t, simulated.Script{Faults: []simulated.Fault{{Call: simulated.CallPrepare, Hang: true}}})
	vm := s.create()
	s.pass(vm)
	key := client.ObjectKeyFromObject(vm)
	s.r.operations.drain(t.Context())
	op := s.r.operations.look(key, vm.UID)
	if !op.ended() || !op.canceled {
		t.Errorf("the operation is %+v", op)
	}
	s.settle(vm)
	if vm.Status.StartFailure != nil || s.r.operations.start(t.Context(), key, s.hosts["a"].Open(), op.operation) {
		t.Errorf("what was ended on purpose is a failure, or another one has begun: %+v", vm.Status)
	}
}
