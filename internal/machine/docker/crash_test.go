// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// An engine that was killed while it started a container said "task already exists" to every later start.
func TestContainerThatNeverRanIsReplaced(t *testing.T) {
	t.Parallel()
	daemon, driver, api := shared(t)
	spec := specOf(newIdentity())
	spec.Args = []string{"-listen", ":81"}
	spec.Env = []machine.EnvVar{{Name: "GREETING", Value: "hello"}}
	spec.Ports = []machine.Port{{Port: 81}}
	lost := create(t, driver, spec)
	before := inspect(t, api, lost.ID)
	if err := daemon.Lose(lost.ID); err != nil {
		t.Fatal(err)
	}
	if err := driver.Start(t.Context(), spec.Identity); err != nil {
		t.Fatal(err)
	}
	now := get(t, driver, spec.Identity)
	if now.State != machine.StateRunning || now.ID == lost.ID || now.NativeName != lost.NativeName || now.SpecHash != lost.SpecHash {
		t.Errorf("the machine is %+v, want it to run in a new container like %+v", now, lost)
	}
	after := inspect(t, api, now.ID)
	if before.Config.Labels["cloudnative.tw/incarnation"] == after.Config.Labels["cloudnative.tw/incarnation"] {
		t.Error("both containers have the same incarnation")
	}
	if got := after.Config.Labels["cloudnative.tw/replaces"]; got != lost.ID {
		t.Errorf("the container replaces %q, want %q", got, lost.ID)
	}
	delete(after.Config.Labels, "cloudnative.tw/replaces")
	before.Config.Hostname, after.Config.Hostname = "", "" // the start of the ID
	delete(before.Config.Labels, "cloudnative.tw/incarnation")
	delete(after.Config.Labels, "cloudnative.tw/incarnation")
	if diff := cmp.Diff(before.Config, after.Config, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the configuration differs (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before.HostConfig, after.HostConfig, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("the configuration on the host differs (-before +after):\n%s", diff)
	}
	if list, err := driver.List(t.Context(), spec.Installation); err != nil || len(list) != 1 {
		t.Errorf("List returned %+v, %v; want one machine", list, err)
	}
}

// What a container wrote is never replaced: a person has to look at it.
func TestContainerThatRanIsNotReplaced(t *testing.T) {
	t.Parallel()
	daemon, driver, _ := shared(t)
	spec := specOf(newIdentity())
	ran := run(t, driver, spec)
	if err := driver.Stop(t.Context(), spec.Identity, hard); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Lose(ran.ID); err != nil {
		t.Fatal(err)
	}
	if err := driver.Start(t.Context(), spec.Identity); err == nil || !strings.Contains(err.Error(), ran.ID) {
		t.Errorf("Start returned %v, want the engine's refusal", err)
	}
	if now := get(t, driver, spec.Identity); now.ID != ran.ID {
		t.Errorf("the machine is %+v, want container %q", now, ran.ID)
	}
}

// TestStartSurvivesACrashOfTheEngine kills the engine while it starts machines, and expects that all of them run in the end.
func TestStartSurvivesACrashOfTheEngine(t *testing.T) {
	t.Parallel()
	daemon := dockertest.Start(t)
	driver := open(t, daemon.Host())
	specs := make([]machine.Spec, 8)
	for i := range specs {
		specs[i] = specOf(newIdentity())
		create(t, driver, specs[i])
	}
	var starting sync.WaitGroup
	for _, spec := range specs {
		starting.Go(func() { _ = driver.Start(t.Context(), spec.Identity) }) // can fail: the engine crashes
	}
	<-time.After(600 * time.Millisecond) // in the middle of it
	if err := daemon.Crash(t.Context()); err != nil {
		t.Fatal(err)
	}
	starting.Wait()
	for _, spec := range specs {
		if err := driver.Start(t.Context(), spec.Identity); err != nil {
			t.Error(err)
			continue
		}
		await(t, driver, spec.Identity, func(o machine.Observed) bool { return o.State == machine.StateRunning })
	}
}

// TestSuspendedMachineIsOffAfterAPowerFailure: the host remembers a suspension only as long as it runs, and nothing starts by itself.
func TestSuspendedMachineIsOffAfterAPowerFailure(t *testing.T) {
	t.Parallel()
	daemon := dockertest.Start(t)
	driver := open(t, daemon.Host())
	spec := specOf(newIdentity())
	before := run(t, driver, spec)
	if err := driver.Suspend(t.Context(), spec.Identity); err != nil {
		t.Fatal(err)
	}
	daemon.Kill()
	if err := daemon.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, driver, spec.Identity, func(o machine.Observed) bool { return o.State == machine.StateStopped && o.ID == before.ID })
	if err := driver.Start(t.Context(), spec.Identity); err != nil {
		t.Fatal(err)
	}
	await(t, driver, spec.Identity, func(o machine.Observed) bool {
		return o.State == machine.StateRunning && o.StartedAt.After(before.StartedAt)
	})
}
