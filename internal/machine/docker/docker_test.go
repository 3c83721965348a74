// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

var hard = machine.PowerOff{Mode: machine.Hard}

// The article's own check, and its first defect: whole CPUs were handed over as billionths of one.
func TestSizeReachesTheEngine(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	for name, test := range map[string]struct {
		size          machine.Resources
		nanos, memory int64
	}{
		"the article's test-vm": {machine.Resources{MilliCPU: 2000, MemoryBytes: 4_000_000_000}, 2_000_000_000, 4_000_000_000},
		"half a CPU":            {machine.Resources{MilliCPU: 500, MemoryBytes: 64 << 20}, 500_000_000, 64 << 20},
		"no limits":             {machine.Resources{}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(newIdentity())
			spec.Resources = test.size
			host := inspect(t, api, create(t, driver, spec).ID).HostConfig
			if host.NanoCPUs != test.nanos || host.Memory != test.memory || host.MemorySwap != test.memory {
				t.Errorf("NanoCpus %d, Memory %d, MemorySwap %d; want %d, %d and as much", host.NanoCPUs, host.Memory, host.MemorySwap,
					test.nanos, test.memory)
			}
			if host.RestartPolicy.Name != container.RestartPolicyDisabled {
				t.Errorf("the engine restarts it by itself: %+v", host.RestartPolicy)
			}
		})
	}
}

func TestSizesThatNoHostHas(t *testing.T) {
	t.Parallel()
	_, driver, _ := shared(t)
	for name, test := range map[string]struct {
		size machine.Resources
		want error
	}{
		"less memory than an engine gives":     {machine.Resources{MemoryBytes: 5 << 20}, machine.ErrInvalid},
		"less CPU than an engine gives":        {machine.Resources{MilliCPU: 9}, machine.ErrInvalid},
		"more CPU than the host has":           {machine.Resources{MilliCPU: 10_000_000}, machine.ErrNoCapacity},
		"a root disk, which a container lacks": {machine.Resources{RootDiskBytes: 1 << 30}, machine.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(newIdentity())
			spec.Resources = test.size
			removeAtEnd(t, driver, spec.Identity)
			_, err := driver.Create(t.Context(), spec)
			if !errors.Is(err, test.want) {
				t.Fatalf("Create returned %v, want %v", err, test.want)
			}
			if errors.Is(test.want, machine.ErrNoCapacity) && !strings.Contains(err.Error(), "CPUs available") {
				t.Errorf("the engine's words are missing: %v", err)
			}
		})
	}
}

// A limit can be changed while the machine runs, memory beyond twice of what it was included, but not lifted.
func TestResizeLive(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	before := run(t, driver, spec)
	to := machine.Resources{MilliCPU: 1500, MemoryBytes: 4 * spec.Resources.MemoryBytes}
	if err := driver.Resize(t.Context(), spec.Identity, to); err != nil {
		t.Fatal(err)
	}
	host := inspect(t, api, before.ID).HostConfig
	if host.NanoCPUs != 1_500_000_000 || host.Memory != to.MemoryBytes || host.MemorySwap != to.MemoryBytes {
		t.Errorf("the container has %+v", host.Resources)
	}
	if err := driver.Resize(t.Context(), spec.Identity, machine.Resources{MilliCPU: 1500}); !errors.Is(err, machine.ErrUnsupported) {
		t.Errorf("lifting a limit returned %v", err)
	}
}

func TestMemoryInUseIsNotTakenAway(t *testing.T) {
	t.Parallel()
	_, driver, _ := shared(t)
	spec := specOf(newIdentity())
	spec.Args = []string{"-hold", "48"}
	spec.Resources.MemoryBytes = 128 << 20
	run(t, driver, spec)
	awaitMemory(t, driver, spec.Identity, 48<<20)
	small := spec.Resources
	small.MemoryBytes = 8 << 20
	if err := driver.Resize(t.Context(), spec.Identity, small); !errors.Is(err, machine.ErrRestartRequired) {
		t.Errorf("Resize returned %v, want %v", err, machine.ErrRestartRequired)
	}
	if observed := get(t, driver, spec.Identity); observed.State != machine.StateRunning || observed.Resources != spec.Resources {
		t.Errorf("the machine is %+v", observed)
	}
}

func TestMachineThatUsesTooMuchMemorySaysSo(t *testing.T) {
	t.Parallel()
	_, driver, _ := shared(t)
	spec := specOf(newIdentity())
	spec.Args = []string{"-hold", "256"}
	run(t, driver, spec)
	// The engine hears of the end and of its cause on different ways.
	observed := await(t, driver, spec.Identity, func(o machine.Observed) bool { return o.State == machine.StateStopped && o.Cause != "" })
	if observed.Cause != "OOMKilled" || observed.ExitCode == nil || *observed.ExitCode == 0 {
		t.Errorf("it ended as %+v", observed)
	}
}

func TestExitStatusIsKept(t *testing.T) {
	t.Parallel()
	_, driver, _ := shared(t)
	spec := specOf(newIdentity())
	spec.Args = []string{"-exit", "7"}
	run(t, driver, spec)
	observed := await(t, driver, spec.Identity, func(o machine.Observed) bool { return o.State == machine.StateStopped })
	if observed.ExitCode == nil || *observed.ExitCode != 7 || observed.Cause != "" || observed.FinishedAt.IsZero() {
		t.Errorf("it ended as %+v", observed)
	}
}

// A failed start once left a container that the driver did not find, and whose name remained taken.
func TestFailedStartIsAdopted(t *testing.T) {
	t.Parallel()
	_, driver, _ := shared(t)
	spec := specOf(newIdentity())
	spec.Command = []string{"/no/such/program"}
	created := create(t, driver, spec)
	if err := driver.Start(t.Context(), spec.Identity); !errors.Is(err, machine.ErrInvalid) {
		t.Errorf("Start returned %v, want %v", err, machine.ErrInvalid)
	}
	again, err := driver.Create(t.Context(), spec)
	if err != nil || again.ID != created.ID || !strings.Contains(again.Cause, "/no/such/program") {
		t.Errorf("Create returned %+v, %v; want %q with the reason", again, err, created.ID)
	}
	list, err := driver.List(t.Context(), spec.Installation)
	if err != nil || len(list) != 1 {
		t.Errorf("List returned %+v, %v; want one", list, err)
	}
}

// The engine finds "test-vm" in "my-test-vm-2" when it is asked by name.
func TestNames(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	for name, test := range map[string]struct {
		vm      string
		foreign []string
		want    func(id machine.Identity) string
	}{
		"its own where that is free": {
			vm: "free", want: func(machine.Identity) string { return "free" },
		},
		"its own beside others that contain it": {
			vm: "test-vm", foreign: []string{"my-test-vm-2", "test-vm-2"}, want: func(machine.Identity) string { return "test-vm" },
		},
		"a longer one where it is taken": {
			vm: "taken", foreign: []string{"taken"},
			want: func(id machine.Identity) string { return "default-taken-" + id.UID[:8] },
		},
		"a longer one where it is too short for a container": {
			vm: "a", want: func(id machine.Identity) string { return "default-a-" + id.UID[:8] },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, foreign := range test.foreign {
				occupy(t, api, foreign)
			}
			id := newIdentity()
			id.Name = test.vm
			if got, want := create(t, driver, specOf(id)).NativeName, test.want(id); got != want {
				t.Errorf("the container is called %q, want %q", got, want)
			}
		})
	}
}

func TestBothNamesTakenIsAConflict(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	occupy(t, api, spec.Name)
	untouched := occupy(t, api, "default-"+spec.Name+"-"+spec.UID[:8])
	if _, err := driver.Create(t.Context(), spec); !errors.Is(err, machine.ErrConflict) {
		t.Errorf("Create returned %v, want %v", err, machine.ErrConflict)
	}
	if err := driver.Delete(t.Context(), spec.Identity, hard); err != nil {
		t.Error(err)
	}
	untouched(t)
}

// A container of an image that was committed from a machine has all labels of the machine.
func TestCopyOfAMachineIsForeign(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	original := run(t, driver, spec)
	image, err := api.ContainerCommit(t.Context(), original.ID, client.ContainerCommitOptions{Reference: "copy:" + strings.ToLower(spec.UID)})
	if err != nil {
		t.Fatal(err)
	}
	made, err := api.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: &container.Config{Image: image.ID}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeForeign(t, api, made.ID) })
	if labels := inspect(t, api, made.ID).Config.Labels; labels["cloudnative.tw/vm-uid"] != spec.UID {
		t.Fatalf("the copy has the labels %v, so there is nothing to tell apart", labels)
	}
	if list, err := driver.List(t.Context(), spec.Installation); err != nil || len(list) != 1 || list[0].ID != original.ID {
		t.Errorf("List returned %+v, %v; want %q only", list, err, original.ID)
	}
	if err := driver.Delete(t.Context(), spec.Identity, hard); err != nil {
		t.Fatal(err)
	}
	if _, err := driver.Get(t.Context(), spec.Identity); !errors.Is(err, machine.ErrNotFound) {
		t.Errorf("Get returned %v after the machine was deleted", err)
	}
	inspect(t, api, made.ID)

	// The machine itself may come back from that image.
	spec.Image.Name = image.ID
	restored := create(t, driver, spec)
	if got := get(t, driver, spec.Identity); got.ID != restored.ID || got.ID == made.ID {
		t.Errorf("Get returned %q, want the new %q", got.ID, restored.ID)
	}
}

func TestAnonymousVolumesGoWithTheMachine(t *testing.T) {
	t.Parallel()
	daemon, driver, api := shared(t)
	if err := daemon.Import(t.Context(), "volumes:1", "VOLUME /data"); err != nil {
		t.Fatal(err)
	}
	spec := specOf(newIdentity())
	spec.Image.Name = "volumes:1"
	mounts := inspect(t, api, run(t, driver, spec).ID).Mounts
	if len(mounts) != 1 {
		t.Fatalf("the container has the mounts %+v, want one", mounts)
	}
	if err := driver.Delete(t.Context(), spec.Identity, hard); err != nil {
		t.Fatal(err)
	}
	if _, err := api.VolumeInspect(t.Context(), mounts[0].Name, client.VolumeInspectOptions{}); err == nil {
		t.Errorf("volume %q is still there", mounts[0].Name)
	}
}

func TestPortsArePublishedOnLoopback(t *testing.T) {
	t.Parallel()
	_, driver, _ := shared(t)
	spec := specOf(newIdentity())
	spec.Ports = []machine.Port{
		{Port: 80},
		{Port: 81, HostPort: 18081, Protocol: machine.TCP},
		{Port: 53, HostIP: "127.0.0.2", Protocol: machine.UDP},
	}
	got := run(t, driver, spec)
	for i := range got.Ports {
		if got.Ports[i].Port == 81 {
			continue
		}
		if got.Ports[i].HostPort == 0 {
			t.Errorf("port %d has no port on the host", got.Ports[i].Port)
		}
		got.Ports[i].HostPort = 0
	}
	want := []machine.Port{
		{Port: 53, HostIP: "127.0.0.2", Protocol: machine.UDP},
		{Port: 80, HostIP: "127.0.0.1", Protocol: machine.TCP},
		{Port: 81, HostPort: 18081, HostIP: "127.0.0.1", Protocol: machine.TCP},
	}
	if diff := cmp.Diff(want, got.Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if len(got.Addresses) != 1 {
		t.Errorf("the machine has the addresses %v, want one", got.Addresses)
	}
}

func TestPausedMachineIsStartedStoppedAndDeleted(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	for name, do := range map[string]func(ctx context.Context, id machine.Identity) error{
		"start": driver.Start,
		"stop": func(ctx context.Context, id machine.Identity) error {
			return driver.Stop(ctx, id, machine.PowerOff{Mode: machine.TrySoft, Grace: time.Second})
		},
		"delete": func(ctx context.Context, id machine.Identity) error { return driver.Delete(ctx, id, hard) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(newIdentity())
			made := run(t, driver, spec)
			if _, err := api.ContainerPause(t.Context(), made.ID, client.ContainerPauseOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := get(t, driver, spec.Identity); got.State != machine.StatePaused {
				t.Fatalf("it is %s, want %s", got.State, machine.StatePaused)
			}
			if err := do(t.Context(), spec.Identity); err != nil {
				t.Error(err)
			}
		})
	}
}

// The image says how its program wants to be asked.
func TestSoftStopSendsTheSignalOfTheImage(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	spec.Image.Name = stoppedBy(t, api, "SIGWINCH")
	run(t, driver, spec)
	err := driver.Stop(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.Soft, Grace: 50 * time.Millisecond})
	if !errors.Is(err, machine.ErrBusy) || !strings.Contains(err.Error(), "SIGWINCH") {
		t.Errorf("Stop returned %v, want %v because of SIGWINCH", err, machine.ErrBusy)
	}
}

// An image named a signal that the engine does not know: its container could be neither stopped, nor replaced or deleted.
func TestContainerWhoseStopSignalIsUnknownCannotBeStopped(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	spec.Image.Name = stoppedBy(t, api, "SIGHALT")
	run(t, driver, spec)
	err := driver.Stop(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.Soft, Grace: patience})
	if !errors.Is(err, machine.ErrInvalid) || !strings.Contains(err.Error(), "SIGHALT") {
		t.Errorf("Stop without SIGKILL returned %v, want %v because of SIGHALT", err, machine.ErrInvalid)
	}
	if err := driver.Stop(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.TrySoft, Grace: patience}); err != nil {
		t.Errorf("Stop returned %v, want that it stops", err)
	}
}

// stoppedBy returns the name of an image that wants to be stopped by a signal.
func stoppedBy(t *testing.T, api *client.Client, signal string) string {
	t.Helper()
	made, err := api.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: &container.Config{Image: dockertest.Image}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeForeign(t, api, made.ID) })
	name := strings.ToLower(signal) + ":1"
	config := &container.Config{Entrypoint: []string{"/guest"}, StopSignal: signal}
	if _, err := api.ContainerCommit(t.Context(), made.ID, client.ContainerCommitOptions{Reference: name, Config: config}); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLabelsAndEnvironment(t *testing.T) {
	t.Parallel()
	_, driver, api := shared(t)
	spec := specOf(newIdentity())
	spec.Env = []machine.EnvVar{{Name: "GREETING", Value: "hello = world"}}
	spec.Image.Registry = &machine.RegistryAuth{Username: "somebody", Password: "correct-horse-battery"}
	config := inspect(t, api, create(t, driver, spec).ID).Config
	delete(config.Labels, "cloudnative.tw/incarnation")
	want := map[string]string{
		"cloudnative.tw/installation": spec.Installation, "cloudnative.tw/vm-uid": spec.UID, "cloudnative.tw/vm-namespace": "default",
		"cloudnative.tw/vm-name": spec.Name, "cloudnative.tw/spec-hash": spec.Hash,
	}
	if diff := cmp.Diff(want, config.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if !slices.Contains(config.Env, "GREETING=hello = world") || strings.Contains(strings.Join(config.Env, " "), "battery") {
		t.Errorf("the environment is %q", config.Env)
	}
}

// await waits until the machine is as wanted.
func await(t *testing.T, driver machine.Driver, id machine.Identity, check func(machine.Observed) bool) machine.Observed {
	t.Helper()
	var observed machine.Observed
	eventually(t, func() bool {
		observed = get(t, driver, id)
		return check(observed)
	})
	return observed
}

func awaitMemory(t *testing.T, driver machine.Driver, id machine.Identity, bytes int64) {
	t.Helper()
	eventually(t, func() bool {
		samples, err := driver.Stats(t.Context(), id.Installation)
		if err != nil {
			t.Fatal(err)
		}
		return samples[id.UID].MemoryBytes >= bytes
	})
}

func eventually(t *testing.T, check func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-ctx.Done():
			t.Fatal("gave up waiting")
		case <-tick.C:
		}
	}
}
