// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"testing"
	"time"

	"github.com/moby/moby/client"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestWalkThroughOnDocker is the article from one end to the other, on a real Docker Engine.
func TestWalkThroughOnDocker(t *testing.T) {
	t.Parallel()
	h := testkit.New(t, kube.AddMachineIndexes)
	daemon := dockertest.Start(t)
	api, err := daemon.Client()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	host := daemon.Host()
	host.Containers.Registries = []string{"127.0.0.1:1"} // where nobody listens
	// Tests share an API server: this host has a name that no other test uses.
	s := &stage{
		Harness: h, t: t, namespace: h.Namespace(t), driver: machine.DriverDocker, now: time.Now,
	}
	s.installation = s.namespace
	host.Name = s.name("docker")
	s.list, s.open = []machine.Host{host}, docker.Open
	s.restart()

	vm := s.create(cpu("1"), func(vm *cloudnativev1alpha1.VirtualMachine) {
		// The first sketch of the article has a disk, which a container has not.
		vm.Spec.Resource[cloudnativev1alpha1.ResourceRootDisk] = vm.Spec.Resource[cloudnativev1alpha1.ResourceMemory]
	})
	s.settle(vm)
	s.want(vm, active, "Ready=True/Ready", "RootDiskRefused=True/NoRootDisk")
	s.edit(vm, func(vm *cloudnativev1alpha1.VirtualMachine) {
		delete(vm.Spec.Resource, cloudnativev1alpha1.ResourceRootDisk)
	})
	if apimeta.FindStatusCondition(vm.Status.Conditions, cloudnativev1alpha1.ConditionRootDiskRefused) != nil {
		t.Error("a root disk is refused that nobody asks for")
	}

	inspected, err := api.ContainerInspect(t.Context(), "test-vm", client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made := inspected.Container
	if made.HostConfig.Memory != 4_000_000_000 || made.HostConfig.NanoCPUs != 1_000_000_000 || made.Config.Image != "nginx:1.17.4" {
		t.Errorf("memory %d, NanoCPUs %d, image %s", made.HostConfig.Memory, made.HostConfig.NanoCPUs, made.Config.Image)
	}
	if vm.Status.Server.ID != made.ID || vm.Status.Server.Name != "test-vm" || !hasFinalizer(vm) {
		t.Errorf("the status is %+v", vm.Status.Server)
	}

	s.wantUsage(vm, host.Name)

	// Somebody kills the container: Windlass notices it and starts the machine again after the backoff.
	if _, err := api.ContainerKill(t.Context(), "test-vm", client.ContainerKillOptions{Signal: "KILL"}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the container has ended", func() bool {
		found, err := s.driverOf(host.Name).Get(t.Context(), identity(vm, s.namespace))
		return err == nil && found.State == machine.StateStopped
	})
	s.settle(vm)
	s.want(vm, crashing, "Ready=False/Crashed")

	// The manager is down while the object is deleted.
	if err := s.Live.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	if s.gone(vm) {
		t.Fatal("the object has not waited for its container")
	}
	s.restart()
	s.settle(vm)
	if _, err := api.ContainerInspect(t.Context(), "test-vm", client.ContainerInspectOptions{}); err == nil || !s.gone(vm) {
		t.Errorf("the container is there: %t, the object: %t", err == nil, !s.gone(vm))
	}

	// The article's last manifest comes with the finalizer.
	finalizer := s.machine(cpu("500m"), func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Name, vm.Finalizers = "test-vm-finalizer", []string{cloudnativev1alpha1.Finalizer}
	})
	s.want(finalizer, active)
	s.remove(finalizer)
	if !s.gone(finalizer) {
		t.Error("the object with the finalizer of a user is there")
	}

	// Nothing can be pulled here, which is a failure like any other.
	missing := s.machine(named("default", "missing"), cpu("500m"), image("127.0.0.1:1/missing:1"))
	s.want(missing, pulling)
	s.remove(missing)

	// More than the engine has is told, and can be deleted.
	greedy := s.machine(named("default", "greedy"), cpu("1000"))
	s.want(greedy, waiting, "Ready=False/NoCapacity")
	s.remove(greedy)
	if !s.gone(missing) || !s.gone(greedy) {
		t.Error("they are not gone")
	}
}

// driver of a host as the reconciler uses it.
func (s *stage) driverOf(host string) machine.Driver {
	s.t.Helper()
	driver, ok := s.fleet.Driver(host)
	if !ok {
		s.t.Fatalf("there is no host %q", host)
	}
	return driver
}
