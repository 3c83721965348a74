// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

const (
	active      = cloudnativev1alpha1.PhaseActive
	creating    = cloudnativev1alpha1.PhaseCreating
	stopped     = cloudnativev1alpha1.PhaseStopped
	crashing    = cloudnativev1alpha1.PhaseCrashLoopBackOff
	pulling     = cloudnativev1alpha1.PhaseImagePullBackOff
	failing     = cloudnativev1alpha1.PhaseFailed
	terminating = cloudnativev1alpha1.PhaseTerminating
	unknown     = cloudnativev1alpha1.PhaseUnknown
	waiting     = cloudnativev1alpha1.PhasePending
)

func runs(strategy cloudnativev1alpha1.RunStrategy) vmEdit {
	return func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RunStrategy = strategy }
}

func image(name string) vmEdit {
	return func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Image.Name = name }
}

func env(name, value string) vmEdit {
	return func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Env = append(vm.Spec.Env, cloudnativev1alpha1.EnvVar{Name: name, Value: value})
	}
}

func cpu(quantity string) vmEdit {
	return func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Resource[cloudnativev1alpha1.ResourceCPU] = resource.MustParse(quantity)
	}
}

func named(namespace, name string) vmEdit {
	return func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Namespace, vm.Name = namespace, name }
}

func TestTheArticlesMachineBecomesActive(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.create()
	s.pass(vm)
	if !hasFinalizer(vm) {
		t.Error("there is no finalizer after the first pass")
	}
	if got := kube.PlacementOf(vm).String(); got != "simulated/"+s.name("a") || s.count("a") != 0 {
		t.Errorf("the record of the host is %q; there are %d machines", got, s.count("a"))
	}
	s.want(vm, creating, "Ready=False/Provisioning", "Reconciling=True/Provisioning", "DriverReady=True/DriverReady")
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready", "DriverReady=True/DriverReady", "ImageReady=True/ImageReady", "Provisioned=True/Provisioned",
		"PowerSynced=True/Running", "ResourcesSynced=True/ResourcesSynced", "RestartRequired=False/UpToDate",
		"SoftwareEmulation=False/Accelerated", "Reconciling=False/Idle", "Stalled=False/NotStalled")
	s.wantEvents("Created")
	found := s.on("a", vm)
	want := &cloudnativev1alpha1.Server{
		ID: found.ID, Name: "test-vm", Driver: "simulated", Host: s.name("a"), State: "running", StartedAt: vm.Status.Server.StartedAt,
	}
	if diff := cmp.Diff(want, vm.Status.Server); diff != "" {
		t.Errorf("server (-want +got):\n%s", diff)
	}
	if vm.Status.Reason != "" || vm.Status.StartFailure != nil || vm.Status.LastUpdateTime == nil {
		t.Errorf("the status is %+v", vm.Status)
	}
	s.remove(vm)
	if !s.gone(vm) || s.count("a") != 0 {
		t.Errorf("after deletion the object is there: %t, and %d machines", !s.gone(vm), s.count("a"))
	}
	s.wantEvents("Deleted")
}

// TestMachineTakesThreeWritesAndAnEvent: the finalizer is written, the status with the host when the machine is to be created, and the
// status when it runs.
func TestMachineTakesThreeWritesAndAnEvent(t *testing.T) {
	s := newStage(t, simulated.Script{})
	before := s.Writes()
	s.machine()
	if n := s.Writes() - before; n != 3 {
		t.Errorf("a machine took %d writes, want 3", n)
	}
	s.wantEvents("Created")
}

// TestDefect01: whole cores were passed as billionths, and fractions were rounded up.
func TestDefect01SizesAreExact(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	if diff := cmp.Diff(machine.Resources{MilliCPU: 2000, MemoryBytes: 4_000_000_000}, s.on("a", vm).Resources); diff != "" {
		t.Errorf("cpu: 2, memory: 4G (-want +got):\n%s", diff)
	}
	s.edit(vm, cpu("500m"))
	if got := s.on("a", vm).Resources.MilliCPU; got != 500 {
		t.Errorf("500m is %d thousandths of a processor", got)
	}
}

func TestDefect01MoreThanTheHostHasIsTold(t *testing.T) {
	s := newStage(t, simulated.Script{Capacity: machine.Resources{MilliCPU: 4000}})
	vm := s.machine(cpu("8"))
	s.want(vm, waiting, "Ready=False/NoCapacity", "DriverReady=False/NoCapacity")
	if s.count("a") != 0 {
		t.Error("there is a machine")
	}
	s.edit(vm, cpu("2"))
	s.want(vm, active, "Ready=True/Ready")
}

// TestDefect02: a machine that existed made the object stick in Creating for ever.
func TestDefect02MachineThatExistsIsAdopted(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	id := vm.Status.Server.ID
	testkit.EditStatus(t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status = cloudnativev1alpha1.VirtualMachineStatus{Phase: creating}
	})
	s.restart()
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
	if vm.Status.Server.ID != id || s.count("a") != 1 {
		t.Errorf("the machine is %q, want %q; the host has %d", vm.Status.Server.ID, id, s.count("a"))
	}
}

// TestDefect03: the finalizer came after the machine, and deletion did nothing before Active.
func TestDefect03DeletionWorksInEveryPhase(t *testing.T) {
	cases := map[string]struct {
		script simulated.Script
		edit   []vmEdit
		phase  cloudnativev1alpha1.Phase
		do     func(s *stage, vm *cloudnativev1alpha1.VirtualMachine)
	}{
		"Pending":          {edit: []vmEdit{cpu("1000")}, phase: waiting},
		"Active":           {phase: active},
		"Stopped":          {edit: []vmEdit{runs(cloudnativev1alpha1.RunHalted)}, phase: stopped},
		"ImagePullBackOff": {edit: []vmEdit{image("refused")}, phase: pulling},
		"CrashLoopBackOff": {phase: crashing, do: func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) {
			s.hosts["a"].Kill(identity(vm, "installation"))
			s.settle(vm)
		}},
		"Failed, because it cannot be made": {
			script: simulated.Script{Faults: []simulated.Fault{{Call: simulated.CallCreate}}}, phase: failing,
		},
		"Failed, because it cannot be started": {
			script: simulated.Script{Faults: []simulated.Fault{{Call: simulated.CallStart}}}, phase: failing,
		},
		"Failed, because it was lost and is not made again": {
			edit: []vmEdit{runs(cloudnativev1alpha1.RunOnce)}, phase: failing,
			do: func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) {
				s.hosts["a"].Remove(identity(vm, "installation"))
				s.settle(vm)
			},
		},
	}
	for phase, test := range cases {
		t.Run(phase, func(t *testing.T) {
			s := newStage(t, test.script)
			vm := s.machine(test.edit...)
			if test.do != nil {
				test.do(s, vm)
			}
			s.want(vm, test.phase)
			s.remove(vm)
			if !s.gone(vm) || s.count("a") != 0 {
				t.Errorf("the object is there: %t, and %d machines: %+v", !s.gone(vm), s.count("a"), vm.Status)
			}
		})
	}
}

func TestDefect03DeletionEndsAnEndlessPull(t *testing.T) {
	s := newStage(t, simulated.Script{Faults: []simulated.Fault{{Call: simulated.CallPrepare, Hang: true}}})
	vm := s.create()
	s.begin(vm)
	s.want(vm, creating)
	if err := s.Live.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	s.pass(vm)
	s.want(vm, terminating, "Ready=False/Provisioning")
	testkit.Eventually(t, "the object is gone", func() bool {
		s.pass(vm)
		return s.gone(vm)
	})
}

func TestDefect03FinalizerOfAUserIsHonoured(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Name, vm.Finalizers = "test-vm-finalizer", []string{cloudnativev1alpha1.Finalizer}
	})
	s.want(vm, active, "Ready=True/Ready")
	s.remove(vm)
	if !s.gone(vm) || s.count("a") != 0 {
		t.Error("it is not gone")
	}
}

// TestDefect04: machines of two namespaces collided, and deleting one removed the other's.
func TestDefect04TwoNamespacesHaveOneName(t *testing.T) {
	s := newStage(t, simulated.Script{})
	one, two := s.machine(), s.machine(named(s.Namespace(t), "test-vm"))
	s.want(one, active)
	s.want(two, active)
	if one.Status.Server.Name == two.Status.Server.Name {
		t.Errorf("both are %q", one.Status.Server.Name)
	}
	s.remove(one)
	if s.on("a", one) != nil || s.on("a", two) == nil {
		t.Error("the wrong one went")
	}
}

// TestDefect05: a filter found test-vm-2 for test-vm, and none that were off.
func TestDefect05NamesThatBeginAlikeAndMachinesThatAreOff(t *testing.T) {
	s := newStage(t, simulated.Script{})
	two := s.machine(named("default", "test-vm-2"))
	one := s.machine(runs(cloudnativev1alpha1.RunHalted))
	s.want(one, stopped, "Ready=True/Ready", "PowerSynced=True/Stopped")
	s.want(two, active)
	s.edit(one, runs(cloudnativev1alpha1.RunAlways))
	s.want(one, active, "Ready=True/Ready")
	if s.count("a") != 2 || one.Status.RestartCount != 0 {
		t.Errorf("%d machines, %d restarts", s.count("a"), one.Status.RestartCount)
	}
}

// TestDefect06: a machine that somebody had removed made its object impossible to delete.
func TestDefect06MachineThatIsGoneIsDeleted(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.hosts["a"].Remove(identity(vm, "installation"))
	s.remove(vm)
	if !s.gone(vm) {
		t.Error("the object is there")
	}
}

// TestDefect07: the image was not waited for. The simulated host makes no machine from an image that was not fetched.
func TestDefect07ImageIsWaitedFor(t *testing.T) {
	s := newStage(t, simulated.Script{Latency: map[simulated.Call]time.Duration{simulated.CallPrepare: time.Minute}})
	vm := s.create()
	s.begin(vm)
	s.pass(vm)
	s.want(vm, creating, "ImageReady=False/Provisioning", "Provisioned=False/Provisioning")
	testkit.Eventually(t, "the image is being fetched", s.clock.HasWaiters)
	other := s.create(named("default", "other"), image("busybox"))
	s.begin(other)
	if s.operations.Look(client.ObjectKeyFromObject(other), other.UID) == nil {
		t.Error("another machine waits for the image of this one")
	}
	testkit.Eventually(t, "the image has come", func() bool {
		s.step(time.Minute)
		return !s.operations.Look(client.ObjectKeyFromObject(vm), vm.UID).Running()
	})
	s.settle(vm)
	s.want(vm, active, "ImageReady=True/ImageReady")
}

// TestDefect08: a machine that could not be started was left behind, and in the way of the next attempt.
func TestDefect08StartIsTriedAgainWithTheSameMachine(t *testing.T) {
	s := newStage(t, simulated.Script{Faults: []simulated.Fault{{Call: simulated.CallStart, Times: 2}}})
	vm := s.machine()
	s.want(vm, failing, "Ready=False/StartFailed", "Provisioned=True/Provisioned", "PowerSynced=False/StartFailed")
	if !strings.Contains(vm.Status.Reason, "simulated fault") || vm.Status.StartFailure.Count != 1 {
		t.Errorf("the status is %+v", vm.Status)
	}
	id := vm.Status.Server.ID
	s.step(10 * time.Second)
	s.settle(vm)
	if vm.Status.StartFailure.Count != 2 {
		t.Errorf("the status is %+v", vm.Status)
	}
	s.step(40 * time.Second)
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
	if vm.Status.Server.ID != id || s.count("a") != 1 || vm.Status.Reason != "" || vm.Status.StartFailure != nil {
		t.Errorf("there are %d machines; the status is %+v", s.count("a"), vm.Status)
	}
}

// TestDefect09: an object that was gone was an error, again and again.
func TestDefect09ObjectThatIsGoneIsNoError(t *testing.T) {
	s := newStage(t, simulated.Script{})
	result, err := s.Reconcile(t, s.r, types.NamespacedName{Namespace: s.namespace, Name: "nobody"})
	if err != nil || !result.IsZero() {
		t.Errorf("got %+v, %v", result, err)
	}
}

// TestDefect10: the death of a machine went unnoticed.
func TestDefect10DeathIsNoticed(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.Events.Take()
	s.hosts["a"].Kill(identity(vm, "installation"))
	s.settle(vm)
	s.want(vm, crashing, "Ready=False/Crashed", "PowerSynced=False/Crashed", "Provisioned=True/Provisioned", "Reconciling=True/Crashed")
	if got := vm.Status.Reason; got != "the machine ended by itself with exit code 137: killed" {
		t.Errorf("the reason is %q", got)
	}
	s.wantEvents("Crashed")
	s.step(10 * time.Second)
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
	s.wantEvents("Started")
	if vm.Status.RestartCount != 1 || vm.Status.Reason != "" || vm.Status.StartFailure.Count != 1 {
		t.Errorf("the status is %+v", vm.Status)
	}
	// It has got over it when it has run for as long as the longest backoff.
	s.step(301 * time.Second)
	s.settle(vm)
	if vm.Status.StartFailure != nil {
		t.Errorf("the status is %+v", vm.Status)
	}
}

func TestDefect10MachineThatIsGoneIsMadeAgain(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	id := vm.Status.Server.ID
	s.Events.Take()
	s.hosts["a"].Remove(identity(vm, "installation"))
	s.settle(vm)
	s.want(vm, crashing, "Ready=False/InstanceLost", "Provisioned=False/InstanceLost")
	s.wantEvents("InstanceLost")
	if vm.Status.Server.ID != "" || vm.Status.Server.Host != s.name("a") {
		t.Errorf("server is %+v", vm.Status.Server)
	}
	s.step(10 * time.Second)
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
	if vm.Status.Server.ID == id || vm.Status.RestartCount != 1 {
		t.Errorf("the status is %+v", vm.Status)
	}
}

// TestDefect11: changes of the spec were ignored.
func TestDefect11ChangesAreFollowed(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.Events.Take()
	s.edit(vm, cpu("3"))
	s.want(vm, active, "Ready=True/Ready", "ResourcesSynced=True/ResourcesSynced")
	s.wantEvents("Resized")
	if got := s.on("a", vm).Resources.MilliCPU; got != 3000 || vm.Status.RestartCount != 0 {
		t.Errorf("%d thousandths after %d restarts", got, vm.Status.RestartCount)
	}
}

// TestDefect12: the status was written by replacing the object, and the spec with it.
func TestDefect12SpecIsNeverWritten(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.create()
	s.pass(vm)
	// The cache of the next pass has not seen this.
	testkit.Edit(t, s.Harness, vm, cpu("1"))
	s.settle(vm)
	if got := vm.Spec.Resource.Cpu().String(); got != "1" {
		t.Errorf("cpu is %s", got)
	}
	s.want(vm, active, "ResourcesSynced=True/ResourcesSynced")
	for _, entry := range vm.ManagedFields {
		raw, err := entry.FieldsV1.MarshalJSON()
		if err != nil || !strings.Contains(string(raw), "f:") {
			t.Fatalf("cannot read who owns what: %v: %s", err, raw)
		}
		if entry.Manager == "windlass" && strings.Contains(string(raw), "f:spec") {
			t.Errorf("windlass owns parts of the spec: %s", raw)
		}
	}
}

// TestDefect18: machines of objects that were deleted while the manager was down stayed for ever.
func TestDefect18DeletionWhileTheManagerIsDown(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	if err := s.Live.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	if s.gone(vm) {
		t.Fatal("the object has not waited for its machine")
	}
	s.restart()
	s.settle(vm)
	if !s.gone(vm) || s.count("a") != 0 {
		t.Error("it is not gone")
	}
}

func TestRunStrategies(t *testing.T) {
	cases := map[string]struct {
		strategy cloudnativev1alpha1.RunStrategy
		code     string
		phase    cloudnativev1alpha1.Phase
		ready    string
	}{
		"Always starts what has ended in order":              {cloudnativev1alpha1.RunAlways, "0", stopped, "Ready=False/Stopped"},
		"Always starts what has ended with an error":         {cloudnativev1alpha1.RunAlways, "3", crashing, "Ready=False/Crashed"},
		"RerunOnFailure leaves what has ended in order":      {cloudnativev1alpha1.RunRerunOnFailure, "0", stopped, "Ready=True/Ready"},
		"RerunOnFailure starts what has ended with an error": {cloudnativev1alpha1.RunRerunOnFailure, "3", crashing, "Ready=False/Crashed"},
		"Once leaves what has ended in order":                {cloudnativev1alpha1.RunOnce, "0", stopped, "Ready=True/Ready"},
		"Once leaves what has ended with an error":           {cloudnativev1alpha1.RunOnce, "3", failing, "Ready=False/Crashed"},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t, simulated.Script{})
			vm := s.machine(runs(test.strategy), env(simulated.EnvExitAfter, "30s"), env(simulated.EnvExitCode, test.code))
			s.want(vm, active, "Ready=True/Ready")
			s.step(30 * time.Second)
			testkit.Eventually(t, "the machine has ended", func() bool { return s.on("a", vm).State == machine.StateStopped })
			s.settle(vm)
			s.want(vm, test.phase, test.ready)
			s.step(15 * time.Second)
			s.settle(vm)
			if running := s.on("a", vm).State == machine.StateRunning; running != (test.ready != "Ready=True/Ready" && test.phase != failing) {
				t.Errorf("the machine runs: %t", running)
			}
		})
	}
}

// A machine that had ended, and got another size in its spec, was "being resized" for ever.
func TestMachineThatHasEndedIsResizedForEver(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(runs(cloudnativev1alpha1.RunOnce), env(simulated.EnvExitAfter, "30s"))
	s.step(30 * time.Second)
	testkit.Eventually(t, "the machine has ended", func() bool { return s.on("a", vm).State == machine.StateStopped })
	s.edit(vm, cpu("3"))
	s.want(vm, stopped, "Ready=False/ResizePending", "Stalled=True/ResizePending", "Reconciling=False/Idle", "PowerSynced=True/Completed",
		"ResourcesSynced=False/ResizePending", "RestartRequired=True/ResizePending")
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RestartAt = new(metav1.NewTime(s.Clock.Now())) })
	s.want(vm, active, "Ready=True/Ready", "ResourcesSynced=True/ResourcesSynced")
	s.wantCPUs(vm, 3)
}

func TestCrashLoopBacksOffAndHaltedEndsIt(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	for n, seconds := range []int{10, 40, 90, 160, 250, 300, 300} {
		wait := time.Duration(seconds) * time.Second
		s.hosts["a"].Kill(identity(vm, "installation"))
		s.settle(vm)
		s.want(vm, crashing)
		failure := vm.Status.StartFailure
		if got := failure.RetryAfter.Sub(s.Clock.Now()); got != wait || int(failure.Count) != n+1 {
			t.Errorf("failure %d: the next attempt is in %s, after failure %d", n+1, got, failure.Count)
		}
		s.step(wait - time.Second)
		s.restart() // which must not make it forget
		s.settle(vm)
		s.want(vm, crashing)
		s.step(time.Second)
		s.settle(vm)
		s.want(vm, active)
	}
	s.hosts["a"].Kill(identity(vm, "installation"))
	s.settle(vm)
	s.edit(vm, runs(cloudnativev1alpha1.RunHalted))
	s.want(vm, stopped, "Ready=True/Ready", "PowerSynced=True/Stopped")
	s.edit(vm, runs(cloudnativev1alpha1.RunAlways))
	s.want(vm, active, "Ready=True/Ready")
}

func TestRestartAt(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.step(time.Minute)
	at := metav1.NewTime(s.Clock.Now().Add(time.Hour))
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RestartAt = &at })
	s.want(vm, active)
	if vm.Status.RestartCount != 0 {
		t.Error("it was restarted before its time")
	}
	result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(vm))
	if err != nil || result.RequeueAfter < 50*time.Minute || result.RequeueAfter > time.Hour {
		t.Errorf("the next pass is in %s (%v), want it within the hour", result.RequeueAfter, err)
	}
	s.step(time.Hour - time.Second)
	result, err = s.Reconcile(t, s.r, client.ObjectKeyFromObject(vm))
	if err != nil || result.RequeueAfter < time.Second || result.RequeueAfter > 2*time.Second {
		t.Errorf("the last pass before the restart is %s (%v) ahead, want about a second", result.RequeueAfter, err)
	}
	s.Events.Take()
	s.step(time.Second)
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
	s.wantEvents("Restarted")
	if vm.Status.RestartCount != 1 || !vm.Status.LastRestartTime.Equal(&at) || vm.Status.StartFailure != nil {
		t.Errorf("the status is %+v", vm.Status)
	}
	s.restart()
	s.settle(vm)
	if vm.Status.RestartCount != 1 {
		t.Error("it was restarted twice")
	}
}

// TestRestartIsNotRepeated: the manager dies after the restart and before the status says so.
func TestRestartIsNotRepeatedAfterACrash(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.step(time.Minute)
	at := metav1.NewTime(s.Clock.Now())
	testkit.Edit(t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RestartAt = &at })
	s.step(time.Second)
	s.pass(vm)
	testkit.Eventually(t, "the restart is done", func() bool {
		return !s.operations.Look(client.ObjectKeyFromObject(vm), vm.UID).Running()
	})
	started := s.on("a", vm).StartedAt
	s.restart()
	s.step(time.Second)
	s.settle(vm)
	if again := s.on("a", vm).StartedAt; !again.Equal(started) || !vm.Status.LastRestartTime.Equal(&at) {
		t.Errorf("it was started at %s and again at %s; the status is %+v", started, again, vm.Status)
	}
}

func TestUpdatePolicies(t *testing.T) {
	fixed := simulated.Script{Fixed: simulated.Fixed{CPU: true}}
	policy := func(p cloudnativev1alpha1.UpdatePolicy) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.UpdatePolicy = p }
	}
	cases := map[string]struct {
		script   simulated.Script
		policy   cloudnativev1alpha1.UpdatePolicy
		change   vmEdit
		done     bool
		restarts int32
		want     []string
	}{
		"Live resizes a machine that runs":                {simulated.Script{}, "", cpu("3"), true, 0, []string{"Ready=True/Ready", "RestartRequired=False/UpToDate"}},
		"Live waits where the host cannot":                {fixed, "", cpu("3"), false, 0, []string{"Ready=False/ResizePending", "Stalled=True/ResizePending", "RestartRequired=True/ResizePending", "ResourcesSynced=False/ResizePending"}},
		"Restart resizes a machine that runs":             {simulated.Script{}, cloudnativev1alpha1.UpdateRestart, cpu("3"), true, 0, []string{"Ready=True/Ready"}},
		"Restart restarts where the host cannot":          {fixed, cloudnativev1alpha1.UpdateRestart, cpu("3"), true, 1, []string{"Ready=True/Ready", "RestartRequired=False/UpToDate"}},
		"Manual waits":                                    {simulated.Script{}, cloudnativev1alpha1.UpdateManual, cpu("3"), false, 0, []string{"Ready=False/ResizePending", "RestartRequired=True/ResizePending", "ResourcesSynced=False/ResizePending"}},
		"Live keeps a container of another image":         {simulated.Script{}, "", image("busybox"), false, 0, []string{"Ready=True/Ready", "RestartRequired=True/SpecChanged"}},
		"Restart replaces a container of another image":   {simulated.Script{}, cloudnativev1alpha1.UpdateRestart, image("busybox"), true, 1, []string{"Ready=True/Ready", "RestartRequired=False/UpToDate"}},
		"Restart keeps the old one until the image comes": {simulated.Script{}, cloudnativev1alpha1.UpdateRestart, image("missing"), false, 0, []string{"Ready=False/ImageNotFound"}},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t, test.script)
			vm := s.machine(policy(test.policy))
			s.edit(vm, test.change)
			check := func(done bool, restarts int32) {
				t.Helper()
				found := s.on("a", vm)
				spec := specOf(vm, "installation", machine.DriverSimulated, secrets{})
				if got := found.Resources == spec.Resources && found.SpecHash == spec.Hash; got != done {
					t.Errorf("the machine is as the spec says: %t", got)
				}
				if found.State != machine.StateRunning || vm.Status.RestartCount != restarts {
					t.Errorf("the machine is %s after %d restarts", found.State, vm.Status.RestartCount)
				}
			}
			s.want(vm, vm.Status.Phase, test.want...)
			check(test.done, test.restarts)
			if test.done || strings.Contains(test.want[0], "Image") {
				return
			}
			// The restart that it waits for.
			s.step(time.Minute)
			at := metav1.NewTime(s.Clock.Now())
			s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RestartAt = &at })
			s.want(vm, active, "Ready=True/Ready", "RestartRequired=False/UpToDate", "ResourcesSynced=True/ResourcesSynced")
			check(true, test.restarts+1)
		})
	}
}

func TestRootDiskGrowsOrIsRefused(t *testing.T) {
	s := newStage(t, simulated.Script{Fixed: simulated.Fixed{RootDisk: true}})
	disk := func(quantity string) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Spec.Resource[cloudnativev1alpha1.ResourceRootDisk] = resource.MustParse(quantity)
		}
	}
	vm := s.machine(disk("20Gi"))
	s.edit(vm, disk("40Gi"))
	s.want(vm, active, "Ready=False/ResizePending", "RestartRequired=True/ResizePending", "ResourcesSynced=False/ResizePending")
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.UpdatePolicy = cloudnativev1alpha1.UpdateRestart })
	s.want(vm, active, "Ready=True/Ready", "ResourcesSynced=True/ResourcesSynced")
	s.edit(vm, disk("30Gi"))
	s.want(vm, active, "Ready=False/InvalidSpec", "ResourcesSynced=False/InvalidSpec", "PowerSynced=True/Running")
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		delete(vm.Spec.Resource, cloudnativev1alpha1.ResourceRootDisk)
	})
	s.want(vm, active, "Ready=True/Ready", "ResourcesSynced=True/ResourcesSynced")
	if got := s.on("a", vm).Resources.RootDiskBytes; got != 40<<30 {
		t.Errorf("the root disk has %d bytes, want 40Gi", got)
	}
}

// TestRefusedResizeIsNoOutage: a machine whose resize was refused ended, and never started again.
func TestRefusedResizeIsNoOutageAfterACrash(t *testing.T) {
	s := newStage(t, simulated.Script{Capacity: machine.Resources{MilliCPU: 4000}})
	vm := s.machine()
	s.edit(vm, cpu("8"))
	s.want(vm, active, "Ready=False/NoCapacity", "ResourcesSynced=False/NoCapacity", "PowerSynced=True/Running")
	s.hosts["a"].Kill(identity(vm, "installation"))
	s.settle(vm)
	s.want(vm, crashing, "Ready=False/Crashed", "PowerSynced=False/Crashed", "ResourcesSynced=False/NoCapacity")
	if vm.Status.StartFailure.Count != 1 {
		t.Errorf("a first crash is counted as failure %d", vm.Status.StartFailure.Count)
	}
	s.step(10 * time.Second)
	s.settle(vm)
	s.want(vm, active, "Ready=False/NoCapacity", "ResourcesSynced=False/NoCapacity", "PowerSynced=True/Running")
	if found := s.on("a", vm); found.State != machine.StateRunning || found.Resources.MilliCPU != 2000 {
		t.Errorf("the machine is %s with %d thousandths of a CPU", found.State, found.Resources.MilliCPU)
	}
}

// TestRefusedResizeEndsNoRestart: a restart for a size that the host refuses left the machine off.
func TestRefusedResizeEndsNoRestart(t *testing.T) {
	s := newStage(t, simulated.Script{Capacity: machine.Resources{MilliCPU: 4000}})
	vm := s.machine(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.UpdatePolicy = cloudnativev1alpha1.UpdateManual })
	s.edit(vm, cpu("8"))
	s.step(time.Minute)
	at := metav1.NewTime(s.Clock.Now())
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RestartAt = &at })
	s.want(vm, active, "PowerSynced=True/Running", "ResourcesSynced=False/NoCapacity", "Ready=False/NoCapacity")
	if !vm.Status.LastRestartTime.Equal(&at) || s.on("a", vm).State != machine.StateRunning {
		t.Errorf("the status is %+v", vm.Status)
	}
}

// TestMachinesThatCannotBeCreatedHoldNoCapacity: a machine without an image kept others from a host.
func TestMachinesThatCannotBeCreatedHoldNoCapacity(t *testing.T) {
	s := newStage(t, simulated.Script{Capacity: machine.Resources{MilliCPU: 4000}})
	stuck := s.machine(named("default", "stuck"), cpu("3"), image("missing"))
	s.want(stuck, pulling)
	for range 2 {
		other := s.machine(named("default", "other"), cpu("3"))
		s.want(other, active, "Ready=True/Ready")
		s.remove(other)
		s.restart() // the claims are then read from the objects
	}

	// The next attempt waits until there is room.
	other := s.machine(named("default", "third"), cpu("3"))
	s.want(other, active, "Ready=True/Ready")
	s.edit(stuck, image("nginx"))
	s.want(stuck, waiting, "Ready=False/NoCapacity", "Provisioned=False/NoCapacity", "DriverReady=True/DriverReady")
	s.remove(other)
	s.step(time.Minute)
	s.settle(stuck)
	s.want(stuck, active, "Ready=True/Ready")
}

// TestMissingImageKeepsThePhaseOfARunningMachine: it was ImagePullBackOff while the old container ran.
func TestMissingImageKeepsThePhaseOfARunningMachine(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.UpdatePolicy = cloudnativev1alpha1.UpdateRestart })
	testkit.Edit(t, s.Harness, vm, image("missing"))
	s.pass(vm)
	s.want(vm, active, "Ready=False/Replacing", "Reconciling=True/Replacing")
	s.settle(vm)
	s.want(vm, active, "Ready=False/ImageNotFound", "ImageReady=False/ImageNotFound", "PowerSynced=True/Running")
}

// TestRefusedSpecRemovesTheRunningMachine: a container was removed, and its successor could not be made.
func TestRefusedSpecRemovesTheRunningMachine(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.UpdatePolicy = cloudnativev1alpha1.UpdateRestart })
	before := s.on("a", vm)
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Env = []cloudnativev1alpha1.EnvVar{{Name: simulated.EnvLoad, Value: "more than all"}}
	})
	s.want(vm, active, "Ready=False/InvalidSpec", "Stalled=True/InvalidSpec", "PowerSynced=True/Running")
	if diff := cmp.Diff(before, s.on("a", vm)); diff != "" {
		t.Errorf("the machine (-before +after):\n%s", diff)
	}
}

func TestHostThatDoesNotAnswer(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	before := *vm.Status.Server
	s.Events.Take()
	s.hosts["a"].SetAway(true)
	s.settle(vm)
	s.want(vm, unknown, "Ready=False/DriverUnreachable", "DriverReady=False/DriverUnreachable", "PowerSynced=Unknown/NotObserved")
	s.wantEvents("DriverUnreachable")
	if diff := cmp.Diff(&before, vm.Status.Server); diff != "" {
		t.Errorf("server (-before +after):\n%s", diff)
	}
	// Until the fleet knows of it, a machine could still be placed on the host.
	testkit.Eventually(t, "the host is down", func() bool { return s.fleet.Health(s.name("a")).Err != nil })
	other := s.machine(named("default", "other"))
	s.want(other, cloudnativev1alpha1.PhasePending, "Ready=False/DriverUnreachable")
	s.hosts["a"].SetAway(false)
	testkit.Eventually(t, "the host is back", func() bool { return s.fleet.Health(s.name("a")).Err == nil })
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
	if vm.Status.RestartCount != 0 || vm.Status.Server.ID != before.ID {
		t.Errorf("the status is %+v", vm.Status)
	}
	s.settle(other)
	s.want(other, active)
}

func TestDeletionWaitsForTheHostUnlessTheMachineStays(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.machine()
	s.hosts["a"].SetAway(true)
	s.remove(vm)
	if s.gone(vm) {
		t.Fatal("the object is gone and its machine is not")
	}
	s.want(vm, terminating, "Ready=False/DriverUnreachable")
	ready := apimeta.FindStatusCondition(vm.Status.Conditions, status.Ready).Message
	if want := "Set spec.deletionPolicy to Retain to delete the VirtualMachine and leave its machine as it is"; !strings.HasSuffix(ready, want) {
		t.Errorf("Ready says %q, want the way out at its end: %s", ready, want)
	}
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.DeletionPolicy = cloudnativev1alpha1.DeletionRetain
	})
	if !s.gone(vm) {
		t.Errorf("the object is there: %+v", vm.Status)
	}
}

func TestPlacementIsNeverForgotten(t *testing.T) {
	t.Parallel()
	withoutStatus := func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) {
		testkit.EditStatus(s.t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Status = cloudnativev1alpha1.VirtualMachineStatus{}
		})
	}
	cases := map[string]func(s *stage, vm *cloudnativev1alpha1.VirtualMachine){
		"with a status":    func(*stage, *cloudnativev1alpha1.VirtualMachine) {},
		"without a status": withoutStatus,
		"without a status, as an earlier version recorded it": func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) {
			withoutStatus(s, vm)
			testkit.Edit(s.t, s.Harness, vm, recorded("simulated/"+s.name("a")))
		},
	}
	for sentence, lose := range cases {
		t.Run(sentence, func(t *testing.T) {
			s := newStageOf(t, map[string]simulated.Script{"a": {}, "b": {}})
			vm := s.machine()
			lose(s, vm)
			s.restart()
			s.settle(vm)
			s.want(vm, active, "Ready=True/Ready")
			if vm.Status.Server.Host != s.name("a") || s.count("a") != 1 || s.count("b") != 0 {
				t.Errorf("it is on %q; there are %d and %d machines", vm.Status.Server.Host, s.count("a"), s.count("b"))
			}
		})
	}
}

// TestHostOfAnEarlierVersionIsWaitedFor: an earlier version recorded the host in an annotation. While that host is down, no other one is
// chosen.
func TestHostOfAnEarlierVersionIsWaitedFor(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": {}, "b": {}})
	s.hosts["b"].SetAway(true)
	s.restart()
	vm := s.machine(recorded("simulated/"+s.name("b")), func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Finalizers = []string{cloudnativev1alpha1.Finalizer}
	})
	s.want(vm, waiting, "Ready=False/DriverUnreachable")
	if s.count("a") != 0 {
		t.Error("it was created on another host")
	}
}

// heldOnly is an object whose first pass ended between its finalizer and its status.
func heldOnly(vm *cloudnativev1alpha1.VirtualMachine) {
	vm.Finalizers = []string{cloudnativev1alpha1.Finalizer}
}

// The first write of a status was a conflict. From then on, the machine waited for every host that was down, and so did its deletion.
func TestNewMachineWaitsForAnUnrelatedHost(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": {}, "b": {}})
	s.hosts["b"].SetAway(true)
	s.restart()
	s.want(s.machine(heldOnly), active, "Ready=True/Ready")
	vm := s.create(named("default", "deleted"), heldOnly)
	s.remove(vm)
	if !s.gone(vm) || s.count("a") != 1 {
		t.Errorf("the object is there: %t, and %d machines", !s.gone(vm), s.count("a"))
	}
}

// So did a machine that had waited for a place, or for the end of a pause, before that: its status had told of something already.
func TestMachineThatHasWaitedForAPlaceWaitsForAnUnrelatedHost(t *testing.T) {
	t.Parallel()
	on := func(host string) func(*stage) vmEdit {
		return func(s *stage) vmEdit {
			return func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Host = s.name(host) }
		}
	}
	paused := func(*stage) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Annotations = map[string]string{status.PausedAnnotation: "true"}
		}
	}
	resumed := func(*stage) vmEdit { return func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Annotations = nil } }
	small := func(*stage) vmEdit { return cpu("1") }
	large := func(*stage) vmEdit { return cpu("3") }
	for sentence, test := range map[string]struct {
		before, after func(*stage) vmEdit
		ready         string
	}{
		"no host had room":            {large, small, "Ready=False/NoCapacity"},
		"its host did not answer":     {on("b"), on("a"), "Ready=False/DriverUnreachable"},
		"its host was not configured": {on("c"), on("a"), "Ready=False/HostNotConfigured"},
		"it was paused":               {paused, resumed, "Ready=False/Pending"},
	} {
		t.Run(sentence, func(t *testing.T) {
			room := simulated.Script{Capacity: machine.Resources{MilliCPU: 2000}}
			s := newStageOf(t, map[string]simulated.Script{"a": room, "b": room})
			s.hosts["b"].SetAway(true)
			s.restart()
			vm, deleted := s.machine(test.before(s)), s.machine(named("default", "deleted"), test.before(s))
			s.want(vm, waiting, test.ready, "Provisioned=False/Pending")
			// Their next passes end between the finalizer and the status, as with a conflict.
			testkit.Edit(t, s.Harness, vm, heldOnly)
			testkit.Edit(t, s.Harness, deleted, heldOnly)
			s.remove(deleted)
			s.edit(vm, test.after(s))
			s.want(vm, active, "Ready=True/Ready")
			if !s.gone(deleted) {
				t.Errorf("the deleted object is there: %+v", deleted.Status)
			}
		})
	}
}

// An object whose record of a host somebody has removed waits for every host that may have its machine, however often it is looked at.
func TestMachineWhoseHostIsForgottenIsNotMadeAgain(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{"a": {}, "b": {}})
	vm := s.machine(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Host = s.name("b") })
	s.want(vm, active)
	s.freeze("b")
	s.settle(vm)
	testkit.EditStatus(t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Status.Server = nil })
	testkit.Edit(t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Host = "" })
	for range 3 {
		s.settle(vm)
		s.step(recheckPlace)
	}
	s.want(vm, waiting, "Ready=False/DriverUnreachable")
	if n := s.count("a"); n != 0 {
		t.Errorf("%d machines on the other host", n)
	}
}

// An object that is to leave its machine alone was held by the host all the same.
func TestRetainedMachineWaitsForItsHost(t *testing.T) {
	t.Parallel()
	for sentence, harm := range map[string]func(s *stage, vm *cloudnativev1alpha1.VirtualMachine){
		"a host that is down, and nobody knows that it has the machine": func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) {
			testkit.EditStatus(s.t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Status.Server = nil })
			s.freeze("b")
		},
		"a host that refuses to show the machine": func(s *stage, _ *cloudnativev1alpha1.VirtualMachine) {
			s.hosts["b"].Inject(simulated.Fault{Call: simulated.CallGet, Err: machine.ErrNotAllowed})
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStageOf(t, map[string]simulated.Script{"a": {}, "b": {}})
			vm := s.machine(retain, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Host = s.name("b") })
			s.want(vm, active)
			harm(s, vm)
			s.remove(vm)
			stay, err := s.r.retained.Hosts(t.Context())
			if diff := cmp.Diff(map[string]string{string(vm.UID): s.name("b")}, stay); diff != "" || err != nil || !s.gone(vm) {
				t.Errorf("the object is there: %t; %v; the list (-want +got):\n%s", !s.gone(vm), err, diff)
			}
		})
	}
}

// recorded sets the annotation in which earlier versions recorded the host, and which anyone can set who can edit the object.
func recorded(place string) vmEdit {
	return func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Annotations = map[string]string{cloudnativev1alpha1.PlacementAnnotation: place}
	}
}

func TestMachinesAreSpreadByRoom(t *testing.T) {
	s := newStageOf(t, map[string]simulated.Script{
		"a": {Capacity: machine.Resources{MilliCPU: 4000}}, "b": {Capacity: machine.Resources{MilliCPU: 8000}},
	})
	var hosts []string
	for _, name := range []string{"one", "two", "three", "four", "five", "six"} {
		hosts = append(hosts, s.machine(named("default", name)).Status.Server.Host[:1])
	}
	if diff := cmp.Diff([]string{"b", "b", "a", "b", "a", "b"}, hosts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	seventh := s.machine(named("default", "seven"))
	s.want(seventh, waiting, "Ready=False/NoCapacity")
	wanted := s.machine(named("default", "eight"), func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.Host = "c" })
	s.want(wanted, waiting, "Ready=False/HostNotConfigured", "Stalled=True/HostNotConfigured")
}

// A hosts file with a mistake ended the manager with all its controllers.
func TestBadHostsFileIsToldByTheMachines(t *testing.T) {
	s := newStage(t, simulated.Script{})
	running := s.machine()
	good := s.list
	s.list, s.problem = nil, errors.New("cannot use the hosts file: hosts[0]: endpoint is missing")
	s.restart()
	s.settle(running)
	s.want(running, unknown, "Ready=False/HostNotConfigured", "Stalled=True/HostNotConfigured")
	unplaced := s.machine(named("default", "unplaced"))
	s.want(unplaced, waiting, "Ready=False/HostNotConfigured", "Stalled=True/HostNotConfigured")
	for _, vm := range []*cloudnativev1alpha1.VirtualMachine{running, unplaced} {
		stalled := apimeta.FindStatusCondition(vm.Status.Conditions, status.Stalled)
		if stalled == nil || !strings.Contains(stalled.Message, "hosts[0]: endpoint is missing") {
			t.Errorf("%s says %+v, want the problem of the hosts file", vm.Name, stalled)
		}
	}
	s.list, s.problem = good, nil
	s.restart()
	s.settle(running)
	s.want(running, active, "Ready=True/Ready")
	s.settle(unplaced)
	s.want(unplaced, active, "Ready=True/Ready")
}

func TestPaused(t *testing.T) {
	s := newStage(t, simulated.Script{})
	pause := func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Annotations = map[string]string{status.PausedAnnotation: "true"}
	}
	vm := s.machine(pause)
	if hasFinalizer(vm) || s.count("a") != 0 {
		t.Error("a paused object was worked on")
	}
	s.want(vm, waiting, "Paused=True/Paused")
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Annotations = nil })
	s.want(vm, active)
	s.edit(vm, pause)
	s.hosts["a"].Kill(identity(vm, "installation"))
	s.settle(vm)
	s.step(time.Hour)
	s.settle(vm)
	if s.on("a", vm).State != machine.StateStopped {
		t.Error("a paused machine was started")
	}
	s.want(vm, crashing, "Paused=True/Paused", "PowerSynced=False/Paused")
	s.remove(vm)
	if !s.gone(vm) {
		t.Error("a paused object cannot be deleted")
	}
}

func TestImages(t *testing.T) {
	s := newStage(t, simulated.Script{})
	missing := s.machine(image("missing"))
	s.want(missing, pulling, "Ready=False/ImageNotFound", "ImageReady=False/ImageNotFound", "Provisioned=False/ImageNotFound")
	refused := s.machine(named("default", "refused"), image("refused"))
	s.want(refused, pulling, "Ready=False/ImagePullFailed", "ImageReady=False/ImagePullFailed")
	// A spec that was mended is tried at once.
	s.edit(missing, image("nginx"))
	s.want(missing, active, "Ready=True/Ready")
}

func TestDiskThatDoesNotFitStopsTheMachineUntilTheSpecChanges(t *testing.T) {
	s := newStage(t, simulated.Script{})
	s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallPrepare, Times: 1, Err: machine.ErrDiskMismatch})
	vm := s.machine()
	s.want(vm, cloudnativev1alpha1.PhaseFailed, "Ready=False/DiskMismatch", "Stalled=True/DiskMismatch", "Provisioned=False/DiskMismatch")
	s.edit(vm, cpu("3"))
	s.want(vm, active, "Ready=True/Ready")
}

// A spec was corrected while its host did not answer. The failure of the old one was told and waited for, for five minutes.
func TestSpecThatIsCorrectedWhileItsHostIsAwayWaits(t *testing.T) {
	s := newStage(t, simulated.Script{})
	s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallPrepare, Times: 1, Err: machine.ErrDiskMismatch})
	vm := s.machine()
	s.want(vm, failing, "Ready=False/DiskMismatch")
	s.hosts["a"].SetAway(true)
	s.edit(vm, cpu("3"))
	s.want(vm, unknown, "Ready=False/DriverUnreachable")
	if vm.Status.Reason != "" {
		t.Errorf("the status tells %q of the old spec", vm.Status.Reason)
	}
	s.thaw("a")
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
}

func TestFaultsOfEveryCall(t *testing.T) {
	for _, call := range []simulated.Call{
		simulated.CallGet, simulated.CallPrepare, simulated.CallCreate, simulated.CallStart, simulated.CallStop, simulated.CallSuspend,
		simulated.CallResize, simulated.CallDelete,
	} {
		for name, fault := range map[string]simulated.Fault{
			"fails":                  {Times: 1},
			"loses its answer":       {Times: 1, Late: true},
			"finds the host gone":    {Times: 1, Err: machine.ErrUnreachable},
			"does not want the spec": {Times: 1, Err: machine.ErrInvalid},
			"is busy":                {Times: 1, Err: machine.ErrBusy, Skip: 1},
		} {
			t.Run(string(call)+" "+name, func(t *testing.T) {
				s := newStage(t, simulated.Script{})
				fault.Call = call
				s.hosts["a"].Inject(fault)
				vm := s.create()
				s.until(vm, func() bool { return vm.Status.Phase == active })
				testkit.Edit(t, s.Harness, vm, cpu("3"))
				s.until(vm, func() bool { return s.on("a", vm).Resources.MilliCPU == 3000 })
				testkit.Edit(t, s.Harness, vm, runs(cloudnativev1alpha1.RunSuspended))
				s.until(vm, func() bool { return vm.Status.Phase == cloudnativev1alpha1.PhaseSuspended })
				testkit.Edit(t, s.Harness, vm, runs(cloudnativev1alpha1.RunHalted))
				s.until(vm, func() bool { return vm.Status.Phase == stopped })
				if s.count("a") != 1 {
					t.Errorf("there are %d machines", s.count("a"))
				}
				if err := s.Live.Delete(t.Context(), vm); err != nil {
					t.Fatal(err)
				}
				s.until(vm, func() bool { return s.gone(vm) })
				if s.count("a") != 0 {
					t.Errorf("%d machines are left", s.count("a"))
				}
			})
		}
	}
}

// until reconciles, as errors and time go by, until the state is reached.
func (s *stage) until(vm *cloudnativev1alpha1.VirtualMachine, reached func() bool) {
	s.t.Helper()
	key := client.ObjectKeyFromObject(vm)
	testkit.Eventually(s.t, "the state is reached: "+string(vm.Status.Phase), func() bool {
		_, _ = s.Reconcile(s.t, s.r, key) // whose errors are what this is about
		if s.Get(s.t, vm) && len(vm.Status.Conditions) > 0 {
			testkit.CheckContract(s.t, vm)
		}
		s.step(100 * time.Second)
		return reached()
	})
}

// TestCrashBetweenAnyTwoWrites restarts the manager after every single pass, and with every call's answer lost once.
func TestCrashBetweenAnyTwoWrites(t *testing.T) {
	t.Parallel()
	for _, call := range []simulated.Call{"none", simulated.CallPrepare, simulated.CallCreate, simulated.CallStart, simulated.CallDelete} {
		t.Run("the answer of "+string(call)+" is lost", func(t *testing.T) {
			s := newStageOf(t, map[string]simulated.Script{"a": {}, "b": {}})
			for _, host := range s.hosts {
				host.Inject(simulated.Fault{Call: call, Late: true, Times: 1})
			}
			vm := s.create()
			key := client.ObjectKeyFromObject(vm)
			crash := func(reached func() bool) {
				testkit.Eventually(t, "the state is reached", func() bool {
					_, _ = s.Reconcile(t, s.r, key)
					if op := s.operations.Look(key, vm.UID); op != nil {
						testkit.Eventually(t, "the operation has ended", func() bool { return !s.operations.Look(key, vm.UID).Running() })
					}
					s.restart()
					s.Get(t, vm)
					s.step(100 * time.Second)
					if total := s.count("a") + s.count("b"); total > 1 {
						t.Fatalf("there are %d machines for one object", total)
					}
					return reached()
				})
			}
			crash(func() bool { return vm.Status.Phase == active })
			if err := s.Live.Delete(t.Context(), vm); err != nil {
				t.Fatal(err)
			}
			// The end of a deletion is known to the one who has seen it: this manager is left alone.
			s.until(vm, func() bool { return s.gone(vm) })
			if total := s.count("a") + s.count("b"); total != 0 {
				t.Errorf("%d machines are left", total)
			}
		})
	}
}

func TestForeignMachineOfTheNameIsLeftAlone(t *testing.T) {
	s := newStage(t, simulated.Script{})
	s.hosts["a"].Occupy("test-vm")
	vm := s.machine()
	s.want(vm, active, "Ready=True/Ready")
	if want := vm.Namespace + "-test-vm-" + string(vm.UID[:8]); vm.Status.Server.Name != want {
		t.Errorf("it is called %q, want %q", vm.Status.Server.Name, want)
	}
	s.remove(vm)
	if !s.hosts["a"].Occupied("test-vm") {
		t.Error("the foreign machine is gone")
	}
}

func TestStatusThatIsNotWrittenLosesNothing(t *testing.T) {
	s := newStage(t, simulated.Script{})
	vm := s.create()
	s.begin(vm)
	key := client.ObjectKeyFromObject(vm)
	testkit.Eventually(t, "the operation has ended", func() bool { return !s.operations.Look(key, vm.UID).Running() })
	// The pass decides on an object that has changed meanwhile: its write is a conflict.
	s.Sync(t)
	testkit.Edit(t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Labels = map[string]string{"a": "b"} })
	s.settle(vm)
	s.want(vm, active)
	if diff := cmp.Diff([]string{"Created"}, s.Events.Reasons()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestOperationsEndWithTheManager stops the manager while an image is being fetched.
func TestOperationsEndWithTheManager(t *testing.T) {
	s := newStage(t, simulated.Script{Faults: []simulated.Fault{{Call: simulated.CallPrepare, Hang: true}}})
	vm := s.create()
	s.begin(vm)
	key := client.ObjectKeyFromObject(vm)
	s.operations.Drain(t.Context())
	op := s.operations.Look(key, vm.UID)
	if !op.Ended() || !op.Canceled {
		t.Errorf("the operation is %+v", op)
	}
	s.settle(vm)
	if vm.Status.StartFailure != nil || s.operations.Start(t.Context(), key, s.hosts["a"].Open(), op.Operation) {
		t.Errorf("an operation that was canceled has failed, or another one has begun: %+v", vm.Status)
	}
}
