// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/provision"
)

// TestRefusalsOfHosts wants a code for every kind of error, and the words of the host in none of them: they can name addresses.
func TestRefusalsOfHosts(t *testing.T) {
	t.Parallel()
	for kind, want := range map[error]view.Code{
		machine.ErrNotFound:    "NotYet",
		machine.ErrUnsupported: "Unsupported",
		machine.ErrBusy:        "TooManyRequests",
		machine.ErrOff:         "MachineOff",
		machine.ErrConsoleHeld: "ConsoleHeld",
		machine.ErrNoShell:     "NoShell",
		machine.ErrUnreachable: "HostUnreachable",
		errors.New("whatever"): "HostUnreachable",
	} {
		err := refusal(fmt.Errorf("cannot dial 192.0.2.7: %w", kind))
		problem, ok := errors.AsType[*view.Problem](err)
		if !ok || problem.Code != want || !errors.Is(err, kind) {
			t.Errorf("%v is %+v, want %s", kind, problem, want)
			continue
		}
		if said := fmt.Sprintf("%+v", *problem); strings.Contains(said, "192.0.2.7") {
			t.Errorf("the caller is told %s", said)
		}
	}
	if err := refusal(nil); err != nil {
		t.Errorf("no error is %v", err)
	}
}

// TestInstanceThatWaitsReachesNothing asks an instance that is not the leader, and has no objects: a call that gets through panics. One without
// the controllers says so.
func TestInstanceThatWaitsReachesNothing(t *testing.T) {
	t.Parallel()
	waiting, without := newReach(nil, make(chan struct{})), newReach(nil, make(chan struct{}))
	waiting.machines, waiting.tools = fleet.New(nil, fleet.Options{}), &fencedProvisioner{}
	for of, want := range map[*reach]view.Code{waiting: "NotLeading", without: "NoHosts"} {
		_, output := of.Output(t.Context(), "ns", "vm", -1, false)
		_, console := of.Console(t.Context(), "ns", "vm")
		_, runs := of.Runs(t.Context(), "prod")
		_, log := of.RunLog(t.Context(), "prod", "", -1, true)
		for call, err := range map[string]error{"Output": output, "Console": console, "Runs": runs, "RunLog": log} {
			if problem, ok := errors.AsType[*view.Problem](err); !ok || problem.Code != want {
				t.Errorf("%s says %v, want %s", call, err, want)
			}
		}
	}
	if waiting.hosts() == nil || without.hosts() != nil {
		t.Error("only a manager with the controllers has hosts")
	}
}

// TestAttackFollowersOfRuns follows one run more often than the limit. Those who leave make room.
func TestAttackFollowersOfRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReach(nil, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var open []io.Closer
		for range maxFollowers {
			reading, err := r.follow(ctx, "uid", provision.Run{Phase: provision.Running}, -1)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, reading)
		}
		follow := func() error {
			_, err := r.follow(ctx, "uid", provision.Run{Phase: provision.Running}, -1)
			synctest.Wait()
			return err
		}
		if problem, ok := errors.AsType[*view.Problem](follow()); !ok || problem.Code != "TooManyRequests" {
			t.Errorf("one too many: %v", problem)
		}
		for range 2 { // the second time makes no more room
			if err := open[0].Close(); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if err := follow(); err != nil {
			t.Errorf("after one has left: %v", err)
		}
		if err := follow(); err == nil {
			t.Error("one that is closed twice makes room for two")
		}
		cancel()
		synctest.Wait()
		if len(r.followers) != 0 {
			t.Errorf("%d slots are taken by those who left", len(r.followers))
		}
	})
}
