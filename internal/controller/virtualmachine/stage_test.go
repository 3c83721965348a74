// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/controller/machineusage"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// vmEdit changes an object.
type vmEdit = func(*cloudnativev1alpha1.VirtualMachine)

// stage is what a test of the reconciler plays on: simulated hosts, a reconciler, and an API server.
type stage struct {
	*testkit.Harness

	t         *testing.T
	clock     *clocktesting.FakeClock
	hosts     map[string]*simulated.Host
	namespace string
	// list, problem, open, installation and driver are what restart makes a manager of.
	list         []machine.Host
	problem      error
	open         machine.Opener
	installation string
	driver       string
	now          func() time.Time

	r          *Reconciler
	fleet      *fleet.Fleet
	operations *operation.Runner
}

// newStage returns a stage with one simulated host called "a".
func newStage(t *testing.T, script simulated.Script) *stage {
	t.Helper()
	return newStageOf(t, map[string]simulated.Script{"a": script})
}

func newStageOf(t *testing.T, scripts map[string]simulated.Script) *stage {
	t.Helper()
	t.Parallel()
	h := testkit.New(t, kube.AddMachineIndexes)
	s := &stage{
		Harness: h, t: t, clock: clocktesting.NewFakeClock(h.Clock.Now()), hosts: map[string]*simulated.Host{},
		namespace: h.Namespace(t), installation: "installation", driver: machine.DriverSimulated, now: h.Clock.Now,
	}
	s.open = func(_ context.Context, host machine.Host) (machine.Driver, error) {
		return s.hosts[strings.TrimSuffix(host.Name, "."+s.namespace)].Open(), nil
	}
	for name, script := range scripts {
		script.Clock = hostClock{s.clock}
		s.hosts[name] = simulated.NewHost(script)
		s.list = append(s.list, machine.Host{
			Name: s.name(name), Driver: machine.DriverSimulated, Endpoint: "simulated://", MaxCalls: 4,
		})
	}
	s.restart()
	return s
}

// name is the full name of a host: tests share an API server, and what one places is not to fill another one's hosts.
func (s *stage) name(host string) string { return host + "." + s.namespace }

// hostClock runs what is due beside the one who lets time go by, who holds the clock.
type hostClock struct{ *clocktesting.FakeClock }

// AfterFunc implements clock.WithDelayedExecution.
func (c hostClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	return c.FakeClock.AfterFunc(d, func() { go f() })
}

// restart begins with a new reconciler, as after a crash of the manager: whatever was in memory is gone.
func (s *stage) restart() {
	s.t.Helper()
	machines := fleet.New(s.list, fleet.Options{Installation: s.installation, Open: s.open, Problem: s.problem})
	operations := operation.NewRunner(s.now, func(types.NamespacedName) {})
	s.fleet, s.operations = machines, operations
	var configured []string
	for _, host := range s.list {
		configured = append(configured, host.Name)
	}
	s.r = New(Options{
		Client: s.Client, Live: s.Live, Recorder: s.Events, Now: s.now, Installation: s.installation, Fleet: machines,
		Operations: operations, DefaultDriver: s.driver,
		Retained: &kube.RetainedList{Client: s.Client, Live: s.Live, Namespace: s.namespace, Configured: configured},
	})
	testkit.Background(s.t, machines.Start)
	s.t.Cleanup(func() { operations.Drain(context.WithoutCancel(s.t.Context())) }) // before the fleet stops
	testkit.Eventually(s.t, "all hosts were probed", func() bool { return allProbed(machines.Hosts()) })
}

// step lets time go by, for the manager and on the hosts.
func (s *stage) step(d time.Duration) {
	s.Clock.Step(d)
	s.clock.Step(d)
}

// create creates the article's machine, changed as asked.
func (s *stage) create(change ...vmEdit) *cloudnativev1alpha1.VirtualMachine {
	s.t.Helper()
	vm := aMachine(change...)
	vm.UID, vm.Generation = "", 0
	if vm.Namespace == "default" {
		vm.Namespace = s.namespace
	}
	s.Create(s.t, vm)
	return vm
}

// machine creates the article's machine and lets it settle.
func (s *stage) machine(change ...vmEdit) *cloudnativev1alpha1.VirtualMachine {
	s.t.Helper()
	vm := s.create(change...)
	s.settle(vm)
	return vm
}

// settle reconciles until nothing is written, nothing goes on and nothing waits to be written down.
func (s *stage) settle(vm *cloudnativev1alpha1.VirtualMachine) {
	s.t.Helper()
	key := client.ObjectKeyFromObject(vm)
	for range 20 {
		s.Settle(s.t, s.r, vm)
		if s.operations.Look(key, vm.UID) == nil {
			return
		}
		testkit.Eventually(s.t, "the operation has ended", func() bool { return !s.operations.Look(key, vm.UID).Running() })
	}
	s.t.Fatalf("%s does not come to rest: %+v", key, vm.Status)
}

// pass runs one pass and reloads the object.
func (s *stage) pass(vm *cloudnativev1alpha1.VirtualMachine) {
	s.t.Helper()
	if _, err := s.Reconcile(s.t, s.r, client.ObjectKeyFromObject(vm)); err != nil {
		s.t.Fatal(err)
	}
	s.Get(s.t, vm)
}

// begin lets a new object get its host and its machine its first operation, which takes a pass each.
func (s *stage) begin(vm *cloudnativev1alpha1.VirtualMachine) {
	s.t.Helper()
	s.pass(vm)
	s.Sync(s.t)
	s.pass(vm)
}

// edit changes the object as a user would, and lets it settle.
func (s *stage) edit(vm *cloudnativev1alpha1.VirtualMachine, change vmEdit) {
	s.t.Helper()
	testkit.Edit(s.t, s.Harness, vm, change)
	s.settle(vm)
}

// remove deletes the object as a user would, and lets it settle.
func (s *stage) remove(vm *cloudnativev1alpha1.VirtualMachine) {
	s.t.Helper()
	if err := client.IgnoreNotFound(s.Live.Delete(s.t.Context(), vm)); err != nil {
		s.t.Fatal(err)
	}
	s.settle(vm)
}

// on looks at the machine on a host, nil if there is none.
func (s *stage) on(host string, vm *cloudnativev1alpha1.VirtualMachine) *machine.Observed {
	s.t.Helper()
	found, err := s.hosts[host].Open().Get(s.t.Context(), identity(vm, s.installation))
	if err != nil {
		return nil
	}
	return &found
}

// count returns how many machines the host has.
func (s *stage) count(host string) int {
	s.t.Helper()
	list, err := s.hosts[host].Open().List(s.t.Context(), s.installation)
	if err != nil {
		s.t.Fatal(err)
	}
	return len(list)
}

// want holds phase, state and conditions against "Phase state Ready=True/Ready …".
func (s *stage) want(vm *cloudnativev1alpha1.VirtualMachine, phase cloudnativev1alpha1.Phase, conditions ...string) {
	s.t.Helper()
	if vm.Status.Phase != phase {
		s.t.Errorf("phase is %q, want %q; the status is %+v", vm.Status.Phase, phase, vm.Status)
	}
	var got []string
	for _, wanted := range conditions {
		name, _, _ := strings.Cut(wanted, "=")
		condition := apimeta.FindStatusCondition(vm.Status.Conditions, name)
		if condition == nil {
			got = append(got, name+" is not there")
			continue
		}
		got = append(got, name+"="+string(condition.Status)+"/"+condition.Reason)
	}
	if diff := cmp.Diff(conditions, got, cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func (s *stage) wantEvents(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.Events.Reasons(), cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("events (-want +got):\n%s", diff)
	}
}

// wantUsage samples a real host until the usage of the machine is in the status.
func (s *stage) wantUsage(vm *cloudnativev1alpha1.VirtualMachine, host string) {
	s.t.Helper()
	sampler := machineusage.New(machineusage.Options{
		Client: s.Client, Fleet: s.fleet, Calls: machineusage.NewCalls(), Now: s.now, Installation: s.installation, Mode: machineusage.Every,
	})
	testkit.Eventually(s.t, "there is usage", func() bool {
		s.Sync(s.t)
		if err := sampler.Sample(s.t.Context(), host); err != nil {
			s.t.Fatal(err)
		}
		return s.Get(s.t, vm) && vm.Status.Server.Usage != nil && vm.Status.Server.Usage.MemoryBytes > 0
	})
}

// gone reports whether the object is gone.
func (s *stage) gone(vm *cloudnativev1alpha1.VirtualMachine) bool {
	s.t.Helper()
	return !s.Get(s.t, vm.DeepCopy())
}

func hasFinalizer(vm *cloudnativev1alpha1.VirtualMachine) bool {
	return slices.Contains(vm.Finalizers, cloudnativev1alpha1.Finalizer)
}
