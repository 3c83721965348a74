// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// interfering: others do things to the machines too, and that is seen.
func interfering() cases {
	return cases{
		"a machine that is killed is off, and starts again": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Kill != nil, "nobody kills a machine from outside")
			spec := tr.running(t)
			before := tr.get(t, spec.Identity)
			tr.Kill(t, spec.Identity)
			tr.awaitState(t, spec.Identity, machine.StateStopped)
			tr.wantSame(t, before)
			tr.start(t, spec.Identity)
			tr.wantSame(t, before)
		},
		"stopping what was killed does nothing": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Kill != nil, "nobody kills a machine from outside")
			spec := tr.running(t)
			tr.Kill(t, spec.Identity)
			tr.awaitState(t, spec.Identity, machine.StateStopped)
			wantSuccess(t, "Stop", tr.Driver.Stop(limited(t), spec.Identity, pullThePlug()))
		},
		"a machine that is taken away is gone, and is made again": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Remove != nil, "nobody takes a machine away from outside")
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
