// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// patience is how long a test waits for something to become true.
const patience = 2 * time.Minute

// engine is shared by all tests but those that break it.
var engine struct {
	sync.Once

	daemon *dockertest.Daemon
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if engine.daemon != nil {
		if err := engine.daemon.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// shared returns the engine of all tests, a driver for it and a client.
func shared(tb testing.TB) (*dockertest.Daemon, machine.Driver, *client.Client) {
	tb.Helper()
	if why := dockertest.Missing(); why != "" {
		tb.Skip("no Docker Engine: " + why)
	}
	engine.Do(func() { engine.daemon, engine.err = dockertest.Open(context.WithoutCancel(tb.Context())) })
	if engine.err != nil {
		tb.Fatal(engine.err)
	}
	return engine.daemon, open(tb, engine.daemon.Host()), clientOf(tb, engine.daemon)
}

func open(tb testing.TB, host machine.Host) machine.Driver {
	tb.Helper()
	driver, err := docker.Open(tb.Context(), host)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := driver.Close(); err != nil {
			tb.Error(err)
		}
	})
	return driver
}

func clientOf(tb testing.TB, daemon *dockertest.Daemon) *client.Client {
	tb.Helper()
	api, err := daemon.Client()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := api.Close(); err != nil {
			tb.Error(err)
		}
	})
	return api
}

func newIdentity() machine.Identity {
	uid := rand.Text()
	return machine.Identity{Installation: "installation-" + rand.Text(), UID: uid, Namespace: "default", Name: "vm-" + uid[:8]}
}

// specOf returns the spec of a machine that runs until it is asked to stop.
func specOf(id machine.Identity) machine.Spec {
	return machine.Spec{
		Identity:  id,
		Hash:      "hash-of-" + id.UID,
		Resources: machine.Resources{MilliCPU: 100, MemoryBytes: 32 << 20},
		Image:     machine.Image{Name: dockertest.Image, PullPolicy: machine.PullIfNotPresent},
	}
}

// create makes a machine that goes with the test.
func create(tb testing.TB, driver machine.Driver, spec machine.Spec) machine.Observed {
	tb.Helper()
	removeAtEnd(tb, driver, spec.Identity)
	if err := driver.Prepare(tb.Context(), spec); err != nil {
		tb.Fatal(err)
	}
	observed, err := driver.Create(tb.Context(), spec)
	if err != nil {
		tb.Fatal(err)
	}
	return observed
}

func run(tb testing.TB, driver machine.Driver, spec machine.Spec) machine.Observed {
	tb.Helper()
	create(tb, driver, spec)
	if err := driver.Start(tb.Context(), spec.Identity); err != nil {
		tb.Fatal(err)
	}
	return get(tb, driver, spec.Identity)
}

func removeAtEnd(tb testing.TB, driver machine.Driver, id machine.Identity) {
	tb.Helper()
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), patience)
		defer cancel()
		if err := driver.Delete(ctx, id, machine.PowerOff{Mode: machine.Hard}); err != nil {
			tb.Error(err)
		}
	})
}

func get(tb testing.TB, driver machine.Driver, id machine.Identity) machine.Observed {
	tb.Helper()
	observed, err := driver.Get(tb.Context(), id)
	if err != nil {
		tb.Fatal(err)
	}
	return observed
}

func inspect(tb testing.TB, api *client.Client, id string) container.InspectResponse {
	tb.Helper()
	result, err := api.ContainerInspect(tb.Context(), id, client.ContainerInspectOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return result.Container
}

// containerOf finds a machine's container without the driver's help.
func containerOf(tb testing.TB, api *client.Client, id machine.Identity) string {
	tb.Helper()
	result, err := api.ContainerList(tb.Context(), client.ContainerListOptions{
		All: true, Filters: make(client.Filters).Add("label", "cloudnative.tw/vm-uid="+id.UID),
	})
	if err != nil {
		tb.Fatal(err)
	}
	if len(result.Items) != 1 {
		tb.Fatalf("machine %q has %d containers", id.UID, len(result.Items))
	}
	return result.Items[0].ID
}

func removeForeign(tb testing.TB, api *client.Client, id string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), patience)
	defer cancel()
	if _, err := api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
		tb.Error(err)
	}
}
