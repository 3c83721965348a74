// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/libvirt"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestWalkThroughOnLibvirt takes a guest with a kernel of its own from one end to the other, on a real libvirt.
func TestWalkThroughOnLibvirt(t *testing.T) {
	t.Parallel()
	daemon := libvirttest.Start(t)
	guest := libvirttest.NewGuest(t, daemon)
	const qemu = "qemu:///system"
	api := daemon.Dial(t, qemu)
	host := daemon.Host(qemu)
	h := testkit.New(t, kube.AddMachineIndexes)
	// Tests share an API server: this host has a name that no other test uses.
	s := &stage{
		Harness: h, t: t, namespace: h.Namespace(t), driver: machine.DriverLibvirt, now: time.Now,
	}
	s.installation = s.namespace
	host.Name = s.name("libvirt")
	s.list, s.open = []machine.Host{host}, libvirt.Open
	s.restart()

	memory := func(quantity string) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Spec.Resource[cloudnativev1alpha1.ResourceMemory] = resource.MustParse(quantity)
		}
	}
	vm := s.machine(cpu("1"), memory("192M"), func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Boot = &cloudnativev1alpha1.Boot{Kernel: guest.Kernel, Initrd: guest.Initrd}
		vm.Spec.PowerOff.Mode = cloudnativev1alpha1.PowerOffHard
	})
	// Nothing here has the help of a processor, and the status says so.
	s.want(vm, active, "Ready=True/Ready", "ResourcesSynced=True/ResourcesSynced", "SoftwareEmulation=True/Emulated")
	if vm.Status.Server.ID != string(vm.UID) || vm.Status.Server.StartedAt == nil {
		t.Errorf("the status is %+v", vm.Status.Server)
	}

	s.wantUsage(vm, host.Name)

	// More memory than the guest was started with waits for a restart, which somebody asks for.
	s.edit(vm, memory("256M"))
	s.want(vm, active, "RestartRequired=True/ResizePending")
	before, err := s.driverOf(host.Name).Get(t.Context(), identity(vm, s.namespace))
	if err != nil {
		t.Fatal(err)
	}
	var at time.Time
	testkit.Eventually(t, "a whole second lies between the start and now, which is all that an object can tell", func() bool {
		at = time.Now().Truncate(time.Second)
		return at.After(before.StartedAt)
	})
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RestartAt = new(metav1.NewTime(at)) })
	s.want(vm, active, "Ready=True/Ready", "ResourcesSynced=True/ResourcesSynced", "RestartRequired=False/UpToDate")
	found, err := s.driverOf(host.Name).Get(t.Context(), identity(vm, s.namespace))
	if err != nil || found.Resources.MemoryBytes != 256_000_000 {
		t.Errorf("after the restart there is %+v, %v", found, err)
	}

	s.remove(vm)
	domains, _, err := api.ConnectListAllDomains(1, 0)
	if err != nil || len(domains) != 0 || !s.gone(vm) {
		t.Errorf("the object is there: %t, and the domains %+v, %v", !s.gone(vm), domains, err)
	}
}

// procedureCreate is the number of the call that starts a domain.
const procedureCreate = 196

// The connection to the host broke between its record of the first start and that start, and could not undo the record. The guest counted as one that had
// run and ended, and with Once was never started.
func TestGuestWhoseFirstStartWasCutOffIsStarted(t *testing.T) {
	t.Parallel()
	daemon := libvirttest.Start(t)
	way := libvirttest.NewProxy(t, daemon)
	host := libvirttest.HostAt(way.Socket(), "test:///default", "pool=default-pool")
	daemon.Dial(t, "test:///default") // which keeps the state of the mock
	h := testkit.New(t, kube.AddMachineIndexes)
	s := &stage{Harness: h, t: t, namespace: h.Namespace(t), driver: machine.DriverLibvirt, now: h.Clock.Now}
	s.installation = s.namespace
	host.Name = s.name("libvirt")
	s.list, s.open = []machine.Host{host}, libvirt.Open
	s.restart()
	vm := s.create(cpu("1"), runs(cloudnativev1alpha1.RunOnce), func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Boot = &cloudnativev1alpha1.Boot{Kernel: "/var/lib/libvirt/boot/vmlinuz"}
		vm.Spec.Resource[cloudnativev1alpha1.ResourceMemory] = resource.MustParse("64M")
	})
	round := func() {
		s.Sync(t)
		s.pass(vm)
	}
	held, release := way.HoldCall(procedureCreate)
	testkit.Eventually(t, "the machine is being started", func() bool {
		round()
		select {
		case <-held:
			return true
		default:
			return false
		}
	})
	way.Cut()
	release()
	testkit.Eventually(t, "the host is known to be down", func() bool { return s.r.down(host.Name) })
	round()
	s.want(vm, unknown, "PowerSynced=Unknown/Starting")
	if err := way.Mend(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the host is known to be up", func() bool { return !s.r.down(host.Name) })
	s.settle(vm)
	s.want(vm, cloudnativev1alpha1.PhaseFailed, "PowerSynced=False/StartFailed")
	s.Clock.Step(firstBackoff)
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
}
