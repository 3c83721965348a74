// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// interfering: what others do to a machine is observed.
func interfering() cases {
	return cases{
		"a machine that is killed is off, and starts again": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Kill != nil, "the subject cannot kill machines")
			spec := tr.running(t)
			before := tr.get(t, spec.Identity)
			tr.Kill(t, spec.Identity)
			tr.awaitState(t, spec.Identity, machine.StateStopped)
			tr.wantSame(t, before)
			tr.start(t, spec.Identity)
			tr.wantSame(t, before)
		},
		"stopping a killed machine does nothing": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Kill != nil, "the subject cannot kill machines")
			spec := tr.running(t)
			tr.Kill(t, spec.Identity)
			tr.awaitState(t, spec.Identity, machine.StateStopped)
			wantSuccess(t, "Stop", tr.Driver.Stop(limited(t), spec.Identity, pullThePlug()))
		},
		"a machine that is removed is gone, and can be made again": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Remove != nil, "the subject cannot remove machines")
			spec := tr.running(t)
			tr.Remove(t, spec.Identity)
			tr.wantNone(t, spec.Identity)
			wantError(t, "Start", tr.Driver.Start(limited(t), spec.Identity), machine.ErrNotFound)
			wantError(t, "Stop", tr.Driver.Stop(limited(t), spec.Identity, pullThePlug()), machine.ErrNotFound)
			again := tr.create(t, spec)
			if again.State != machine.StateCreated {
				t.Errorf("the new machine is %s, want %s", again.State, machine.StateCreated)
			}
			tr.start(t, spec.Identity)
		},
	}
}
