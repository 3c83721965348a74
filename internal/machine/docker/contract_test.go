// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/contract"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// A loopback address of the engine without a listener. A registry there refuses every connection.
const nobody = "127.0.0.1:1"

func TestContract(t *testing.T) {
	t.Parallel()
	daemon := dockertest.Start(t) // of its own: it is cut off
	api, host := clientOf(t, daemon), daemon.Host()
	host.Containers.Registries = []string{nobody}
	contract.Run(t, contract.Subject{
		Driver:       settled{open(t, host), api},
		Again:        func(t *testing.T) machine.Driver { t.Helper(); return open(t, host) },
		Spec:         specOf,
		MissingImage: nobody + "/library/missing:1",
		RefusedImage: nobody + "/library/refused:1",
		Kill: func(t *testing.T, id machine.Identity) {
			t.Helper()
			if _, err := api.ContainerKill(t.Context(), containerOf(t, api, id), client.ContainerKillOptions{Signal: "KILL"}); err != nil {
				t.Fatal(err)
			}
		},
		Remove: func(t *testing.T, id machine.Identity) {
			t.Helper()
			if _, err := api.ContainerRemove(t.Context(), containerOf(t, api, id), client.ContainerRemoveOptions{Force: true}); err != nil {
				t.Fatal(err)
			}
		},
		Occupy: func(t *testing.T, id machine.Identity) func(*testing.T) {
			t.Helper()
			return occupy(t, api, id.Name)
		},
		Cut: func(t *testing.T) func(*testing.T) {
			t.Helper()
			daemon.Kill()
			return func(t *testing.T) {
				t.Helper()
				if err := daemon.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		},
		Ignore: func(spec machine.Spec) machine.Spec { spec.Args = append(spec.Args, "-ignore"); return spec },
		Type:   func(word string) (typed, answer string) { return `echo hea""rd: ` + word, "heard: " + word },
		Load:   func(spec machine.Spec) machine.Spec { spec.Args = append(spec.Args, "-burn"); return spec },
	})
}

// settled waits after a start until the program in the container hears signals, which takes a moment.
type settled struct {
	machine.Driver

	api *client.Client
}

func (s settled) Start(ctx context.Context, id machine.Identity) error {
	if err := s.Driver.Start(ctx, id); err != nil {
		return err
	}
	observed, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	options := client.ContainerLogsOptions{ShowStdout: true}
	if ended := observed.FinishedAt; !ended.IsZero() { // What it said in the run before does not count.
		options.Since = ended.Format(time.RFC3339Nano)
	}
	for {
		log, err := s.api.ContainerLogs(ctx, observed.ID, options)
		if err != nil {
			return err
		}
		words, err := io.ReadAll(log)
		if err != nil || strings.Contains(string(words), "ready") {
			return errors.Join(err, log.Close())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// occupy makes a foreign container that runs, and returns a check that it still does.
func occupy(t *testing.T, api *client.Client, name string) func(*testing.T) {
	t.Helper()
	made, err := api.ContainerCreate(t.Context(), client.ContainerCreateOptions{
		Name: name, Config: &container.Config{Image: dockertest.Image},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeForeign(t, api, made.ID) })
	if _, err := api.ContainerStart(t.Context(), made.ID, client.ContainerStartOptions{}); err != nil {
		t.Fatal(err)
	}
	before := inspect(t, api, made.ID)
	return func(t *testing.T) {
		t.Helper()
		now := inspect(t, api, made.ID)
		if !now.State.Running || now.State.StartedAt != before.State.StartedAt || now.Name != before.Name {
			t.Errorf("the foreign container was %+v and is %+v", before.State, now.State)
		}
	}
}
