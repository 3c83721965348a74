// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"context"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// trial is one running case: the subject, and an installation that no other case shares.
type trial struct {
	Subject

	info         machine.Info
	installation string
}

func newTrial(subject Subject, info machine.Info) *trial {
	return &trial{Subject: subject, info: info, installation: newUUID()}
}

// spec returns a spec with a new identity.
func (tr *trial) spec() machine.Spec { return tr.Spec(tr.identity()) }

// created returns the spec of a machine that exists and has never run.
func (tr *trial) created(t *testing.T) machine.Spec {
	t.Helper()
	spec := tr.spec()
	tr.create(t, spec)
	return spec
}

// running returns the spec of a machine that runs.
func (tr *trial) running(t *testing.T) machine.Spec {
	t.Helper()
	spec := tr.created(t)
	tr.start(t, spec.Identity)
	return spec
}

// stopped returns the spec of a machine that has run and is off.
func (tr *trial) stopped(t *testing.T) machine.Spec {
	t.Helper()
	spec := tr.running(t)
	tr.stop(t, spec.Identity)
	return spec
}

// create fetches the image and makes the machine, which is deleted when the case ends.
func (tr *trial) create(t *testing.T, spec machine.Spec) machine.Observed {
	t.Helper()
	tr.removeAtEnd(t, spec.Identity)
	ctx := limited(t)
	if err := tr.Driver.Prepare(ctx, spec); err != nil {
		t.Fatalf("Prepare: %v", err)
	}
	observed, err := tr.Driver.Create(ctx, spec)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	return observed
}

func (tr *trial) start(t *testing.T, id machine.Identity) {
	t.Helper()
	if err := tr.Driver.Start(limited(t), id); err != nil {
		t.Fatalf("Start: %v", err)
	}
	tr.awaitState(t, id, machine.StateRunning)
}

func (tr *trial) stop(t *testing.T, id machine.Identity) {
	t.Helper()
	if err := tr.Driver.Stop(limited(t), id, pullThePlug()); err != nil {
		t.Fatalf("Stop: %v", err)
	}
	tr.wantState(t, id, machine.StateStopped)
}

// removeAtEnd deletes the machine when the case ends, whatever its state.
func (tr *trial) removeAtEnd(t *testing.T, id machine.Identity) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := tr.Driver.Delete(ctx, id, pullThePlug()); err != nil {
			t.Errorf("cannot delete machine %q after the case: %v", id.UID, err)
		}
	})
}
