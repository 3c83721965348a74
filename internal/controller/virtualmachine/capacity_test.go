// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// newLimitedStage returns a stage with a host that has 64 CPUs, of which Windlass may allocate four.
func newLimitedStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, simulated.Script{})
	s.list[0].Capacity = machine.Resources{MilliCPU: 4000}
	s.restart()
	return s
}

func cpus(n string) vmEdit {
	return func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Resource = vm.Spec.Resource.DeepCopy()
		vm.Spec.Resource[corev1.ResourceCPU] = resource.MustParse(n)
	}
}

// wantCPUs checks how much the machine has on its host.
func (s *stage) wantCPUs(vm *cloudnativev1alpha1.VirtualMachine, want int64) {
	s.t.Helper()
	if found := s.on("a", vm); found == nil || found.Resources.MilliCPU != want*1000 {
		s.t.Errorf("%s is %+v, want %d CPUs", vm.Name, found, want)
	}
}

// An editor created a small machine and made it larger: nobody compared that with the capacity.
func TestAttackAMachineGrowsBeyondTheCapacity(t *testing.T) {
	s := newLimitedStage(t)
	one, two := s.machine(named("default", "one")), s.machine(named("default", "two"))
	s.edit(one, cpus("4"))
	s.want(one, active, "Ready=False/CapacityExceeded")
	s.wantCPUs(one, 2)
	said := apimeta.FindStatusCondition(one.Status.Conditions, cloudnativev1alpha1.ConditionResourcesSynced).Message
	if want := "has a capacity of 4, and other machines use 2 of it"; !strings.Contains(said, "resource.cpu is 4, host") || !strings.Contains(said, want) {
		t.Errorf("ResourcesSynced says %q, want %q in it", said, want)
	}
	s.restart()
	s.settle(one)
	s.wantCPUs(one, 2)

	// A restart is no way around it.
	s.edit(one, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.UpdatePolicy = cloudnativev1alpha1.UpdateRestart })
	s.wantCPUs(one, 2)

	s.remove(two)
	s.step(recheckPlace)
	s.settle(one)
	s.want(one, active, "Ready=True/Ready")
	s.wantCPUs(one, 4)
	s.edit(one, cpus("1"))
	s.wantCPUs(one, 1)
	three := s.machine(named("default", "three"), cpus("3"))
	s.want(three, active, "Ready=True/Ready")
}

// An editor paused a machine and asked for a smaller one. After a restart of the manager, the difference was given away, although the machine had it.
func TestAttackAPausedMachineGivesItsRoomAway(t *testing.T) {
	s := newLimitedStage(t)
	one := s.machine(named("default", "one"), cpus("4"))
	s.edit(one, func(vm *cloudnativev1alpha1.VirtualMachine) {
		metav1.SetMetaDataAnnotation(&vm.ObjectMeta, status.PausedAnnotation, "true")
	})
	s.edit(one, cpus("1"))
	s.wantCPUs(one, 4)
	s.restart()
	two := s.machine(named("default", "two"), cpus("3"))
	s.want(two, waiting, "Ready=False/NoCapacity")
	s.edit(one, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Annotations = nil })
	s.wantCPUs(one, 1)
	s.step(recheckPlace)
	s.settle(two)
	s.want(two, active, "Ready=True/Ready")
}

// greedy returns a machine that runs, is paused, and then asked for more than the host has.
func (s *stage) greedy() *cloudnativev1alpha1.VirtualMachine {
	s.t.Helper()
	one := s.machine(named("default", "one"))
	s.edit(one, func(vm *cloudnativev1alpha1.VirtualMachine) {
		metav1.SetMetaDataAnnotation(&vm.ObjectMeta, status.PausedAnnotation, "true")
	})
	s.edit(one, cpus("1000"))
	return one
}

// An editor paused a machine and asked for more than the host has. After a restart of the manager, the host was full for everybody else.
func TestAttackAPausedMachineTakesTheHost(t *testing.T) {
	s := newLimitedStage(t)
	one := s.greedy()
	s.restart()
	s.settle(one)
	s.want(s.machine(named("default", "two")), active, "Ready=True/Ready")
	s.want(s.machine(named("default", "three"), cpus("1")), waiting, "Ready=False/NoCapacity")
	s.wantCPUs(one, 2)
}

// Such a machine hung when the manager was restarted: what its host told of it later was not learned, and the host stayed full.
func TestAttackAPausedMachineThatHangsTakesTheHost(t *testing.T) {
	s := newLimitedStage(t)
	one := s.greedy()
	s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, UID: string(one.UID), Hang: true})
	s.restart()
	two := s.machine(named("default", "two"))
	s.want(two, waiting, "Ready=False/NoCapacity")
	s.hosts["a"].Heal()
	s.step(recheckPlace)
	s.settle(two)
	s.want(two, active, "Ready=True/Ready")
}

// An editor changed the size of a machine while its image was fetched: nobody compared the new one with the capacity.
func TestAttackAMachineGrowsBeforeItIsMade(t *testing.T) {
	t.Parallel()
	for sentence, change := range map[string]vmEdit{
		"it becomes larger": cpus("5"),
		"it gives up its size": func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Spec.Resource = vm.Spec.Resource.DeepCopy()
			delete(vm.Spec.Resource, corev1.ResourceCPU)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newLimitedStage(t)
			s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallPrepare, Hang: true, Times: 1})
			vm := s.create(named("default", "one"))
			s.begin(vm)
			s.edit(vm, change)
			s.want(vm, waiting, "Ready=False/NoCapacity")
			if n := s.count("a"); n != 0 {
				t.Errorf("there are %d machines, want none", n)
			}
		})
	}
}

// A machine was made, and its host did not show it before the manager restarted: its room was given away.
func TestMachineThatWasNeverObservedTakesRoom(t *testing.T) {
	s := newLimitedStage(t)
	one := s.create(named("default", "one"), cpus("4"))
	s.begin(one)
	testkit.Eventually(t, "the machine was made", func() bool { return s.on("a", one) != nil })
	s.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, UID: string(one.UID), Err: machine.ErrUnreachable})
	s.restart()
	s.settle(one)
	s.want(one, unknown, "Ready=False/DriverUnreachable")
	s.want(s.machine(named("default", "two"), cpus("1")), waiting, "Ready=False/NoCapacity")
}

// A host got another name: the machines there counted on the old one, and their room was given away.
func TestAttackMachinesOfARenamedHostAreNotCounted(t *testing.T) {
	s := newLimitedStage(t)
	s.want(s.machine(named("default", "one"), cpus("4")), active)
	s.hosts["renamed"] = s.hosts["a"]
	s.list[0].Name = s.name("renamed")
	s.restart()
	s.want(s.machine(named("default", "two"), cpus("1")), waiting, "Ready=False/NoCapacity")
}

// An editor asked for more than a host has, for a machine that exists: the host was full for everybody else.
func TestAttackASizeThatIsRefusedTakesTheHost(t *testing.T) {
	s := newLimitedStage(t)
	one := s.machine(named("default", "one"))
	s.edit(one, cpus("1000"))
	s.want(one, active, "Ready=False/CapacityExceeded")
	two := s.machine(named("default", "two"))
	s.want(two, active, "Ready=True/Ready")
	s.wantCPUs(one, 2)
}

// The same on a host without a capacity in the hosts file, where the driver refuses the size.
func TestAttackASizeThatTheDriverRefusesTakesTheHost(t *testing.T) {
	t.Parallel()
	for sentence, before := range map[string]vmEdit{
		"of a machine that had one": cpus("2"),
		"of a machine that had none": func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Spec.Resource = vm.Spec.Resource.DeepCopy()
			delete(vm.Spec.Resource, corev1.ResourceCPU)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t, fourCPUs)
			one := s.machine(named("default", "one"), before)
			s.want(one, active)
			s.edit(one, cpus("1000"))
			s.want(one, active, "Ready=False/NoCapacity")
			s.want(s.machine(named("default", "two")), active, "Ready=True/Ready")
		})
	}
}

// A machine without a root disk of a size of its own asked for one: nobody compared that with the capacity, and it was full for everybody else.
func TestAttackARootDiskGrowsBeyondTheCapacity(t *testing.T) {
	s := newStage(t, simulated.Script{})
	s.list[0].Capacity = machine.Resources{RootDiskBytes: 100 << 30}
	s.restart()
	disk := func(quantity string) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Spec.Resource = vm.Spec.Resource.DeepCopy()
			vm.Spec.Resource[cloudnativev1alpha1.ResourceRootDisk] = resource.MustParse(quantity)
		}
	}
	one := s.machine(named("default", "one"))
	s.edit(one, disk("1Ti"))
	s.want(one, active, "Ready=False/CapacityExceeded")
	if got := s.on("a", one).Resources.RootDiskBytes; got != 0 {
		t.Errorf("the root disk has %d bytes, want that of the image", got)
	}
	s.want(s.machine(named("default", "two"), disk("60Gi")), active, "Ready=True/Ready")
	s.edit(one, disk("40Gi"))
	s.want(one, active, "Ready=True/Ready")
}

// A machine that gave up its size had the whole host, and left it empty for the sum.
func TestAttackAMachineGivesUpItsSize(t *testing.T) {
	s := newLimitedStage(t)
	vm := s.machine(named("default", "one"))
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Spec.Resource = vm.Spec.Resource.DeepCopy()
		delete(vm.Spec.Resource, corev1.ResourceCPU)
	})
	s.want(vm, active, "Ready=False/CapacityExceeded")
	s.wantCPUs(vm, 2)
}
