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
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// vmEdit changes an object.
type vmEdit = func(*cloudnativev1alpha1.VirtualMachine)

// stage is what a test of the reconciler plays on: simulated hosts, a reconciler, and an API server.
type stage struct {
	*testkit.Harness

	t         *testing.T
	r         *Reconciler
	clock     *clocktesting.FakeClock
	hosts     map[string]*simulated.Host
	namespace string
	options   Options
}

// newStage returns a stage with one host called "a" that behaves as the script says.
func newStage(t *testing.T, script simulated.Script) *stage {
	t.Helper()
	return newStageOf(t, map[string]simulated.Script{"a": script})
}

func newStageOf(t *testing.T, scripts map[string]simulated.Script, change ...func(*Options)) *stage {
	t.Helper()
	t.Parallel()
	h := testkit.New(t, AddIndexes)
	s := &stage{
		Harness: h, t: t, clock: clocktesting.NewFakeClock(h.Clock.Now()), hosts: map[string]*simulated.Host{},
		namespace: h.Namespace(t),
	}
	s.options = Options{
		Client: h.Client, Live: h.Live, Recorder: h.Events, Now: h.Clock.Now, Installation: "installation",
		Namespace: s.namespace, DefaultDriver: machine.DriverSimulated,
		Open: func(_ context.Context, host machine.Host) (machine.Driver, error) {
			return s.hosts[strings.TrimSuffix(host.Name, "."+s.namespace)].Open(), nil
		},
	}
	for name, script := range scripts {
		script.Clock = hostClock{s.clock}
		s.hosts[name] = simulated.NewHost(script)
		s.options.Hosts = append(s.options.Hosts, machine.Host{
			Name: s.name(name), Driver: machine.DriverSimulated, Endpoint: "simulated://", MaxCalls: 4,
		})
	}
	for _, c := range change {
		c(&s.options)
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
	s.r = New(s.options)
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.r.fleet.Start(ctx)
	}()
	r := s.r
	s.t.Cleanup(func() {
		r.operations.drain(context.WithoutCancel(ctx))
		cancel()
		<-done
	})
	testkit.Eventually(s.t, "all hosts have been asked", s.r.asked)
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
		if s.r.operations.look(key, vm.UID) == nil {
			return
		}
		testkit.Eventually(s.t, "the operation has ended", func() bool { return !s.r.operations.look(key, vm.UID).running() })
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
	found, err := s.hosts[host].Open().Get(s.t.Context(), identity(vm, s.options.Installation))
	if err != nil {
		return nil
	}
	return &found
}

// count returns how many machines the host has.
func (s *stage) count(host string) int {
	s.t.Helper()
	list, err := s.hosts[host].Open().List(s.t.Context(), s.options.Installation)
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

// gone reports whether the object is gone.
func (s *stage) gone(vm *cloudnativev1alpha1.VirtualMachine) bool {
	s.t.Helper()
	return !s.Get(s.t, vm.DeepCopy())
}

func hasFinalizer(vm *cloudnativev1alpha1.VirtualMachine) bool {
	return slices.Contains(vm.Finalizers, cloudnativev1alpha1.Finalizer)
}
