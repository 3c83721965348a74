// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func rootDisk(vm *cloudnativev1alpha1.VirtualMachine) {
	vm.Spec.Resource[cloudnativev1alpha1.ResourceRootDisk] = resource.MustParse("1Gi")
}

// remakeAt allows disks that were recorded before that time to be made again.
func remakeAt(at time.Time) vmEdit {
	return func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RemakeDisksBefore = new(metav1.NewTime(at)) }
}

// loseDisk takes the machine and its disk from the host, and lets the object try to make it again. It returns what puts the disk back.
func (s *stage) loseDisk(vm *cloudnativev1alpha1.VirtualMachine) (restore func()) {
	s.t.Helper()
	s.hosts["a"].Remove(identity(vm, s.installation))
	restore = s.hosts["a"].TakeDisk(identity(vm, s.installation))
	s.settle(vm)
	s.step(lastBackoff)
	s.settle(vm)
	return restore
}

func (s *stage) wantDiskLost(vm *cloudnativev1alpha1.VirtualMachine) {
	s.t.Helper()
	s.want(vm, cloudnativev1alpha1.PhaseFailed, "Ready=False/DiskLost", "Stalled=True/DiskLost", "Provisioned=False/DiskLost")
	if s.count("a") != 0 || s.hosts["a"].Disk(identity(vm, s.installation)) != 0 || !strings.Contains(vm.Status.Reason, "spec.remakeDisksBefore") {
		s.t.Errorf("there are %d machines, and disk %d; the reason is %q", s.count("a"), s.hosts["a"].Disk(identity(vm, s.installation)), vm.Status.Reason)
	}
}

// A machine whose pool was lost got an empty disk, and its guest wrote to it.
func TestDiskThatIsGoneIsNotMadeAgain(t *testing.T) {
	s := newStage(t, simulated.Script{Disks: true})
	vm := s.machine(rootDisk)
	s.want(vm, active, "Ready=True/Ready")
	id := identity(vm, s.installation)
	disk := s.hosts["a"].Disk(id)

	restore := s.loseDisk(vm)
	s.wantDiskLost(vm)
	s.restart()
	s.settle(vm)
	s.wantDiskLost(vm)

	restore()
	s.step(2 * flow.RecheckStalled)
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
	if now := s.hosts["a"].Disk(id); now != disk {
		t.Errorf("the machine has disk %d, and had %d", now, disk)
	}
}

func TestDiskIsMadeAgainWhereSomebodyAllowsIt(t *testing.T) {
	s := newStage(t, simulated.Script{Disks: true})
	vm := s.machine(rootDisk)
	id := identity(vm, s.installation)
	disk := s.hosts["a"].Disk(id)
	recordedAt := vm.Status.Disks[0].RecordedAt
	s.step(time.Minute)
	s.loseDisk(vm)
	s.edit(vm, remakeAt(recordedAt.Time))
	s.wantDiskLost(vm)
	s.edit(vm, remakeAt(s.Clock.Now().Add(time.Hour)))
	s.wantDiskLost(vm)

	s.edit(vm, remakeAt(s.Clock.Now()))
	s.want(vm, active, "Ready=True/Ready")
	if now := s.hosts["a"].Disk(id); now == 0 || now == disk {
		t.Errorf("the machine has disk %d, and had %d", now, disk)
	}
	s.step(time.Minute)
	s.loseDisk(vm)
	s.wantDiskLost(vm) // Once allowed is not allowed for ever.
}

// Those who may only edit an object cannot have a disk removed that exists, nor leave a time bomb.
func TestAttackRemakingTouchesNoDisk(t *testing.T) {
	s := newStage(t, simulated.Script{Disks: true})
	vm := s.machine(rootDisk)
	id := identity(vm, s.installation)
	disk := s.hosts["a"].Disk(id)
	s.step(time.Minute)
	s.edit(vm, remakeAt(s.Clock.Now()))
	s.hosts["a"].Remove(id)
	s.settle(vm)
	s.step(lastBackoff)
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready")
	if now := s.hosts["a"].Disk(id); now != disk {
		t.Errorf("the machine has disk %d, and had %d", now, disk)
	}
	s.loseDisk(vm)
	s.wantDiskLost(vm)
}

// A crash of the manager at any time leaves no machine that runs with disks of which nobody knows.
func TestMachineStartsOnceItsDisksAreRecorded(t *testing.T) {
	s := newStage(t, simulated.Script{Disks: true})
	vm := s.create(rootDisk)
	key := client.ObjectKeyFromObject(vm)
	for range 20 {
		s.pass(vm)
		s.Sync(t)
		testkit.Eventually(t, "the operation has ended", func() bool { return !s.operations.Look(key, vm.UID).Running() })
		s.Get(t, vm)
		if found := s.on("a", vm); found != nil && found.State == machine.StateRunning {
			if len(vm.Status.Disks) != 1 || vm.Status.Disks[0].Name != machine.RootDisk {
				t.Errorf("it runs, and the record of its disks is %+v", vm.Status.Disks)
			}
			return
		}
	}
	t.Fatalf("it does not start: %+v", vm.Status)
}
