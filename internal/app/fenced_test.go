// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/fence"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/provision"
)

// The fence of these tests is closed, and the driver behind it is nil: a call that gets through panics.
func TestDriversChangeNothingBehindAClosedFence(t *testing.T) {
	t.Parallel()
	opened, err := fencedOpener(func(context.Context, machine.Host) (machine.Driver, error) { return nil, nil },
		closedFence())(t.Context(), machine.Host{})
	if err != nil {
		t.Fatal(err)
	}
	_, created := opened.Create(t.Context(), machine.Spec{})
	for call, err := range map[string]error{
		"prepare": opened.Prepare(t.Context(), machine.Spec{}),
		"create":  created,
		"start":   opened.Start(t.Context(), machine.Identity{}),
		"stop":    opened.Stop(t.Context(), machine.Identity{}, machine.PowerOff{}),
		"resize":  opened.Resize(t.Context(), machine.Identity{}, machine.Resources{}),
		"delete":  opened.Delete(t.Context(), machine.Identity{}, machine.PowerOff{}),
	} {
		if err == nil {
			t.Errorf("%s passed", call)
		}
	}
}

func TestToolsAreNotStartedBehindAClosedFence(t *testing.T) {
	t.Parallel()
	fenced := &fencedProvisioner{fence: closedFence()}
	for call, do := range map[string]func() error{
		"start":  func() error { return fenced.Start(t.Context(), provision.Request{}) },
		"cancel": func() error { return fenced.Cancel(t.Context(), "c") },
		"forget": func() error { return fenced.Forget(t.Context(), "c") },
	} {
		if err := do(); err == nil {
			t.Errorf("%s passed", call)
		}
	}
}

func closedFence() *fence.Fence { return fence.New(leaseDuration, time.Second, time.Now) }
