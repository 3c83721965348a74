// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
)

// suspending: a suspended machine goes on where it was, or is turned off.
func suspending() cases {
	return cases{
		"a machine that runs is suspended, and goes on in the same run": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			before, boot := tr.get(t, spec.Identity), tr.sample(t, spec.UID).Boot
			tr.suspend(t, spec.Identity)
			if now := tr.wantSame(t, before); now.ExitCode != nil || now.Cause != "" {
				t.Errorf("a suspended machine has an end: %+v", now)
			}
			tr.start(t, spec.Identity)
			now := tr.wantSame(t, before)
			if after := tr.sample(t, spec.UID).Boot; !now.StartedAt.Equal(before.StartedAt) || after != boot {
				t.Errorf("the machine was started again: at %s, not %s, as boot %q, not %q", now.StartedAt, before.StartedAt, after, boot)
			}
		},
		"suspending a suspended machine does nothing": func(t *testing.T, tr *trial) {
			spec := tr.suspended(t)
			before := tr.get(t, spec.Identity)
			wantSuccess(t, "Suspend again", tr.Driver.Suspend(limited(t), spec.Identity))
			if diff := cmp.Diff(before, tr.get(t, spec.Identity)); diff != "" {
				t.Errorf("it changed (-before +after):\n%s", diff)
			}
		},
		"a machine that is off cannot be suspended": func(t *testing.T, tr *trial) {
			spec := tr.created(t)
			wantError(t, "Suspend", tr.Driver.Suspend(limited(t), spec.Identity), machine.ErrOff)
			tr.wantState(t, spec.Identity, machine.StateCreated)
			tr.start(t, spec.Identity)
			tr.stop(t, spec.Identity)
			wantError(t, "Suspend", tr.Driver.Suspend(limited(t), spec.Identity), machine.ErrOff)
			tr.wantState(t, spec.Identity, machine.StateStopped)
		},
		"a machine that does not exist cannot be suspended": func(t *testing.T, tr *trial) {
			wantError(t, "Suspend", tr.Driver.Suspend(limited(t), tr.identity()), machine.ErrNotFound)
		},
		"another installation cannot suspend the machine": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			other := spec.Identity
			other.Installation = newUUID()
			wantError(t, "Suspend", tr.Driver.Suspend(limited(t), other), machine.ErrNotFound)
			tr.wantState(t, spec.Identity, machine.StateRunning)
		},
		"a suspended machine that obeys is stopped in every mode": func(t *testing.T, tr *trial) {
			spec := tr.created(t)
			for _, mode := range []machine.PowerOffMode{machine.Soft, machine.TrySoft, machine.Hard} {
				tr.start(t, spec.Identity)
				tr.suspend(t, spec.Identity)
				err := tr.Driver.Stop(limited(t), spec.Identity, machine.PowerOff{Mode: mode, Grace: grace})
				wantSuccess(t, "Stop "+string(mode), err)
				tr.wantState(t, spec.Identity, machine.StateStopped)
			}
		},
		"a suspended machine is listed": func(t *testing.T, tr *trial) {
			spec := tr.suspended(t)
			list, err := tr.Driver.List(limited(t), tr.installation)
			wantSuccess(t, "List", err)
			if len(list) != 1 || list[0].UID != spec.UID || list[0].State != machine.StatePaused {
				t.Errorf("List has %+v, want the machine %q, %s", list, spec.UID, machine.StatePaused)
			}
		},
		"a suspended machine that is killed is off, and starts again": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Kill != nil, "the subject cannot kill machines")
			spec := tr.suspended(t)
			tr.Kill(t, spec.Identity)
			tr.awaitState(t, spec.Identity, machine.StateStopped)
			tr.start(t, spec.Identity)
		},
		"suspending and resuming send events": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			events := tr.watch(t, tr.installation)
			tr.suspend(t, spec.Identity)
			tr.hear(t, events, spec.Identity, "suspended")
			drain(events)
			tr.start(t, spec.Identity)
			tr.hear(t, events, spec.Identity, "resumed")
		},
	}
}

// suspended returns the spec of a machine that is suspended.
func (tr *trial) suspended(t *testing.T) machine.Spec {
	t.Helper()
	spec := tr.running(t)
	tr.suspend(t, spec.Identity)
	return spec
}

func (tr *trial) suspend(t *testing.T, id machine.Identity) {
	t.Helper()
	if err := tr.Driver.Suspend(limited(t), id); err != nil {
		t.Fatalf("Suspend: %v", err)
	}
	tr.wantState(t, id, machine.StatePaused)
}
