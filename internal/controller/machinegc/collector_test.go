// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machinegc

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// stage is a simulated host, an API server, and a Collector between them.
type stage struct {
	*testkit.Harness

	t         *testing.T
	host      *simulated.Host
	others    map[string]*simulated.Host
	driver    machine.Driver
	namespace string
	options   Options
	collector *Collector
	woken     []types.NamespacedName
}

// newStage returns a stage on which the host "a" is swept, beside others.
func newStage(t *testing.T, remove bool, others ...string) *stage {
	t.Helper()
	t.Parallel()
	h := testkit.New(t)
	s := &stage{Harness: h, t: t, host: simulated.NewHost(simulated.Script{}), others: map[string]*simulated.Host{}, namespace: h.Namespace(t)}
	s.driver = s.host.Open()
	hosts := []machine.Host{{Name: "a", Driver: machine.DriverSimulated, Endpoint: "simulated://"}}
	for _, name := range others {
		s.others[name] = simulated.NewHost(simulated.Script{})
		hosts = append(hosts, machine.Host{Name: name, Driver: machine.DriverSimulated, Endpoint: "simulated://"})
	}
	open := func(_ context.Context, host machine.Host) (machine.Driver, error) {
		if other := s.others[host.Name]; other != nil {
			return other.Open(), nil
		}
		return s.host.Open(), nil
	}
	machines := fleet.New(hosts, fleet.Options{Installation: "installation", Open: open})
	testkit.Background(t, machines.Start)
	testkit.Eventually(t, "the host is up", func() bool { return machines.Health("a").Err == nil })
	s.options = Options{
		Client: h.Client, Live: h.Live, Recorder: h.Events, Now: h.Clock.Now, Fleet: machines, Installation: "installation", Remove: remove,
		Retained: &kube.RetainedList{Client: h.Client, Live: h.Live, Namespace: s.namespace},
		Wake:     func(key types.NamespacedName) { s.woken = append(s.woken, key) },
	}
	s.collector = New(s.options)
	return s
}

// object creates an object whose status tells a running machine.
func (s *stage) object(name string) *cloudnativev1alpha1.VirtualMachine {
	s.t.Helper()
	vm := &cloudnativev1alpha1.VirtualMachine{Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"),
	}}}
	vm.Namespace, vm.Name = s.namespace, name
	s.Create(s.t, vm)
	testkit.EditStatus(s.t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status.Server = &cloudnativev1alpha1.Server{State: "running"}
	})
	return vm
}

// machine makes a running machine of that identity.
func (s *stage) machine(id machine.Identity) machine.Identity {
	s.t.Helper()
	spec := machine.Spec{Identity: id, Image: machine.Image{Name: "example", PullPolicy: machine.PullIfNotPresent}}
	if err := s.driver.Prepare(s.t.Context(), spec); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.driver.Create(s.t.Context(), spec); err != nil {
		s.t.Fatal(err)
	}
	if err := s.driver.Start(s.t.Context(), id); err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *stage) identity(vm *cloudnativev1alpha1.VirtualMachine) machine.Identity {
	return machine.Identity{Installation: "installation", UID: string(vm.UID), Namespace: vm.Namespace, Name: vm.Name}
}

// orphan makes a machine that has no object.
func (s *stage) orphan(name string) machine.Identity {
	s.t.Helper()
	return s.machine(machine.Identity{Installation: "installation", UID: "uid-of-" + name, Namespace: s.namespace, Name: name})
}

func (s *stage) sweep() {
	s.t.Helper()
	s.sweepOf("a")
}

func (s *stage) sweepOf(host string) {
	s.t.Helper()
	s.Sync(s.t)
	if err := s.collector.Sweep(s.t.Context(), host); err != nil {
		s.t.Fatal(err)
	}
}

// wantMachines compares the names of the machines on the host, those of all installations.
func (s *stage) wantMachines(want ...machine.Identity) {
	s.t.Helper()
	var got []machine.Identity
	for _, installation := range []string{"installation", "another"} {
		list, err := s.driver.List(s.t.Context(), installation)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, found := range list {
			got = append(got, found.Identity)
		}
	}
	byUID := cmpopts.SortSlices(func(a, b machine.Identity) bool { return a.UID < b.UID })
	if diff := cmp.Diff(want, got, byUID, cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("machines (-want +got):\n%s", diff)
	}
}

func (s *stage) wantEvents(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.Events.Reasons(), cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestOrphansAreReportedOnce(t *testing.T) {
	s := newStage(t, false)
	wanted := s.machine(s.identity(s.object("wanted")))
	orphan := s.orphan("orphan")
	for range 3 {
		s.sweep()
		s.Clock.Step(time.Hour)
	}
	s.wantEvents("Orphaned")
	s.wantMachines(wanted, orphan)
}

func TestOrphansAreRemovedAfterTheGrace(t *testing.T) {
	s := newStage(t, true)
	wanted := s.machine(s.identity(s.object("wanted")))
	foreign := s.machine(machine.Identity{Installation: "another", UID: "foreign", Namespace: s.namespace, Name: "foreign"})
	orphan := s.orphan("orphan")
	s.sweep()
	s.Clock.Step(9 * time.Minute)
	s.sweep()
	s.wantMachines(wanted, orphan, foreign)
	s.Clock.Step(time.Minute)
	s.sweep()
	s.wantMachines(wanted, foreign)
	s.wantEvents("Orphaned", "OrphanDeleted")
}

func TestMachineOfAnEarlierObjectIsAnOrphan(t *testing.T) {
	s := newStage(t, false)
	s.object("twice")
	s.orphan("twice")
	s.sweep()
	s.wantEvents("Orphaned")
}

func TestMachineWhoseObjectCannotBeReadStays(t *testing.T) {
	s := newStage(t, true)
	orphan := s.orphan("orphan")
	s.sweep()
	s.Clock.Step(time.Hour)
	s.options.Live = unreadable{s.Live}
	s.collector.options = s.options
	if err := s.collector.Sweep(t.Context(), "a"); err == nil {
		t.Error("the sweep does not report that it cannot read the object")
	}
	s.wantMachines(orphan)
}

// unreadable is an API server that refuses to show VirtualMachines.
type unreadable struct{ client.Reader }

// Get implements client.Reader.
func (u unreadable) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if _, ok := obj.(*cloudnativev1alpha1.VirtualMachine); ok {
		return context.DeadlineExceeded
	}
	return u.Reader.Get(ctx, key, obj, opts...)
}

func TestRetainedMachinesAreNotOrphans(t *testing.T) {
	s := newStage(t, true)
	one, two := s.object("one"), s.object("two")
	first, second := s.machine(s.identity(one)), s.machine(s.identity(two))
	for _, vm := range []*cloudnativev1alpha1.VirtualMachine{one, two} {
		if err := s.options.Retained.Add(t.Context(), vm, kube.Placement{Driver: machine.DriverSimulated, Host: "a"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Live.Delete(t.Context(), vm); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		s.sweep()
		s.Clock.Step(time.Hour)
	}
	s.wantMachines(first, second)
	s.wantEvents()

	// The entry goes with its machine.
	s.host.Remove(first)
	for range sweepsUntilOutdated {
		s.sweep()
	}
	s.wantRetained(map[string]string{second.UID: "a"})
}

// wantRetained compares the list of retained machines, with their hosts.
func (s *stage) wantRetained(want map[string]string) {
	s.t.Helper()
	got, err := s.options.Retained.Hosts(s.t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		s.t.Errorf("%v; the list (-want +got):\n%s", err, diff)
	}
}

// An administrator gave a host another name: its retained machines were orphans, and were removed with their data.
func TestRetainedMachineOfARenamedHostIsRemoved(t *testing.T) {
	s := newStage(t, true)
	vm := s.object("one")
	id := s.machine(s.identity(vm))
	if err := s.options.Retained.Add(t.Context(), vm, kube.Placement{Driver: machine.DriverSimulated, Host: "old"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Live.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	for range sweepsUntilOutdated + 1 {
		s.sweep()
		s.Clock.Step(time.Hour)
	}
	s.wantMachines(id)
	s.wantEvents()
	s.wantRetained(map[string]string{id.UID: "old"})
}

// The new hardware got the name of the host that broke, and the old one another name. While that was down, the new one had nothing of what the list named,
// for half an hour: the machines of the old one were removed with their data when it came back.
func TestRetainedMachineIsRemovedWhenItsRenamedHostComesBack(t *testing.T) {
	s := newStage(t, true, "old")
	vm := s.object("one")
	s.driver = s.others["old"].Open()
	id := s.machine(s.identity(vm))
	if err := s.options.Retained.Add(t.Context(), vm, kube.Placement{Driver: machine.DriverSimulated, Host: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Live.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	for range sweepsUntilOutdated + 1 {
		s.sweep()
		s.Clock.Step(time.Hour)
	}
	s.wantRetained(map[string]string{id.UID: "a"})

	for range sweepsUntilOutdated + 1 { // The old host is back.
		s.sweepUp("old")
		s.sweep()
		s.Clock.Step(time.Hour)
	}
	s.wantMachines(id)
	s.wantEvents()
	s.wantRetained(map[string]string{id.UID: "a"})

	s.others["old"].Remove(id)
	for range sweepsUntilOutdated {
		s.sweepUp("old")
		s.sweep()
	}
	s.wantRetained(map[string]string{})
}

// sweepUp sweeps a host that is, or is about to be, up.
func (s *stage) sweepUp(host string) {
	s.t.Helper()
	testkit.Eventually(s.t, "the host is up", func() bool { return s.options.Fleet.Health(host).Err == nil })
	s.sweepOf(host)
}

// meanwhile is a reader before whose first look at a VirtualMachine something happens.
type meanwhile struct {
	client.Reader

	happens func()
}

// Get implements client.Reader.
func (m *meanwhile) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if _, ok := obj.(*cloudnativev1alpha1.VirtualMachine); ok && m.happens != nil {
		m.happens()
		m.happens = nil
	}
	return m.Reader.Get(ctx, key, obj, opts...)
}

// meanwhile has something happen between the list of the machines of a host and the next look at an object.
func (s *stage) meanwhile(happens func()) {
	s.options.Client = &meanwhile{s.Live, happens}
	s.collector.options = s.options
}

// A machine that was removed, or retained, with its object while a sweep looked was reported as an orphan.
func TestMachineWhoseObjectGoesDuringASweepIsAnOrphan(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct {
		happens func(*stage, *cloudnativev1alpha1.VirtualMachine) error
		stays   bool
	}{
		"its machine is removed": {func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) error {
			return s.driver.Delete(s.t.Context(), s.identity(vm), machine.PowerOff{Mode: machine.Hard})
		}, false},
		"its machine is retained": {func(s *stage, vm *cloudnativev1alpha1.VirtualMachine) error {
			return s.options.Retained.Add(s.t.Context(), vm, kube.Placement{Driver: machine.DriverSimulated, Host: "a"})
		}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t, false)
			vm := s.object("deleted")
			id := s.machine(s.identity(vm))
			s.meanwhile(func() {
				if err := test.happens(s, vm); err != nil {
					t.Error(err)
				}
				if err := s.Live.Delete(t.Context(), vm); err != nil {
					t.Error(err)
				}
			})
			s.sweep()
			s.wantEvents()
			s.wantCounted(0)
			if test.stays {
				s.wantMachines(id)
			} else {
				s.wantMachines()
			}
		})
	}
}

// A machine that has been an orphan for long, and is to stay since the sweep began, was removed.
func TestOrphanThatIsRetainedDuringASweepIsRemoved(t *testing.T) {
	s := newStage(t, true)
	id := s.orphan("orphan")
	s.sweep()
	s.Clock.Step(time.Hour)
	s.meanwhile(func() {
		vm := &cloudnativev1alpha1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: id.Namespace, Name: id.Name, UID: types.UID(id.UID)}}
		if err := s.options.Retained.Add(t.Context(), vm, kube.Placement{Driver: machine.DriverSimulated, Host: "a"}); err != nil {
			t.Error(err)
		}
	})
	s.sweep()
	s.wantMachines(id)
	s.wantEvents("Orphaned")
}

// The name of a host led to another engine. The object got another machine there, and nothing told of the first one, which ran on.
func TestSecondMachineOfAnObjectIsReported(t *testing.T) {
	s := newStage(t, true, "b")
	vm := s.object("twice")
	record := func(host string) {
		testkit.EditStatus(t, s.Harness, vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Status.Server.Driver, vm.Status.Server.Host = machine.DriverSimulated, host
		})
	}
	sweeps := func() {
		for range 3 {
			s.sweepUp("b")
			s.sweep()
			s.Clock.Step(time.Hour)
		}
	}
	first := s.machine(s.identity(vm))
	record("old") // The host has got another name.
	sweeps()
	s.wantEvents()

	record("b")
	s.driver = s.others["b"].Open()
	second := s.machine(s.identity(vm))
	sweeps()
	s.wantEvents("Duplicated")
	s.wantMachines(second)
	s.driver = s.host.Open()
	s.wantMachines(first)
	s.wantCounted(1)
	s.host.Remove(first)
	sweeps()
	s.wantCounted(0)
}

// wantCounted compares the metric of the host that is swept.
func (s *stage) wantCounted(want float64) {
	s.t.Helper()
	var read dto.Metric
	if err := s.collector.orphans.WithLabelValues("a").Write(&read); err != nil || read.GetGauge().GetValue() != want {
		s.t.Errorf("the metric counts %v machines, want %v; %v", read.GetGauge().GetValue(), want, err)
	}
}

func TestObjectWhoseStatusDiffersIsWoken(t *testing.T) {
	s := newStage(t, false)
	vm := s.object("behind")
	id := s.machine(s.identity(vm))
	s.sweep()
	if len(s.woken) != 0 {
		t.Errorf("%v were woken", s.woken)
	}
	s.host.Kill(id)
	s.sweep()
	if diff := cmp.Diff([]types.NamespacedName{client.ObjectKeyFromObject(vm)}, s.woken); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
}
