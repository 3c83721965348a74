// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
)

// grace is for a machine that obeys a soft stop, on a loaded host.
const grace = time.Minute

// powering: Start and Stop reach the state, and do nothing if the machine is in it already.
func powering() cases {
	return cases{
		"a machine that is started runs": func(t *testing.T, tr *trial) {
			spec := tr.created(t)
			wantSuccess(t, "Start", tr.Driver.Start(limited(t), spec.Identity))
			observed := tr.awaitState(t, spec.Identity, machine.StateRunning)
			if observed.ExitCode != nil || observed.Cause != "" {
				t.Errorf("a running machine has an end: %+v", observed)
			}
		},
		"starting a running machine does nothing": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			before := tr.get(t, spec.Identity)
			wantSuccess(t, "Start again", tr.Driver.Start(limited(t), spec.Identity))
			if diff := cmp.Diff(before, tr.get(t, spec.Identity)); diff != "" {
				t.Errorf("it changed (-before +after):\n%s", diff)
			}
		},
		"a machine that obeys is stopped in every mode": func(t *testing.T, tr *trial) {
			spec := tr.created(t)
			for _, mode := range []machine.PowerOffMode{machine.Soft, machine.TrySoft, machine.Hard} {
				tr.start(t, spec.Identity)
				err := tr.Driver.Stop(limited(t), spec.Identity, machine.PowerOff{Mode: mode, Grace: grace})
				wantSuccess(t, "Stop "+string(mode), err)
				tr.wantState(t, spec.Identity, machine.StateStopped)
			}
		},
		"stopping a machine that is off does nothing": func(t *testing.T, tr *trial) {
			spec := tr.stopped(t)
			before := tr.get(t, spec.Identity)
			for _, mode := range []machine.PowerOffMode{machine.Soft, machine.TrySoft, machine.Hard} {
				err := tr.Driver.Stop(limited(t), spec.Identity, machine.PowerOff{Mode: mode, Grace: tr.ShortGrace})
				wantSuccess(t, "Stop "+string(mode), err)
			}
			if diff := cmp.Diff(before, tr.get(t, spec.Identity)); diff != "" {
				t.Errorf("it changed (-before +after):\n%s", diff)
			}
		},
		"stopping a machine that has never run does nothing": func(t *testing.T, tr *trial) {
			spec := tr.created(t)
			wantSuccess(t, "Stop", tr.Driver.Stop(limited(t), spec.Identity, pullThePlug()))
			tr.wantState(t, spec.Identity, machine.StateCreated)
		},
		"a stopped machine still exists and starts again": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			before := tr.get(t, spec.Identity)
			tr.stop(t, spec.Identity)
			tr.wantSame(t, before)
			tr.start(t, spec.Identity)
			tr.wantSame(t, before)
		},
		"a machine that does not exist is neither started nor stopped": func(t *testing.T, tr *trial) {
			id := tr.identity()
			wantError(t, "Start", tr.Driver.Start(limited(t), id), machine.ErrNotFound)
			wantError(t, "Stop", tr.Driver.Stop(limited(t), id, pullThePlug()), machine.ErrNotFound)
		},
		"a soft stop that is not obeyed gives up": func(t *testing.T, tr *trial) {
			spec := tr.stubborn(t)
			err := tr.Driver.Stop(limited(t), spec.Identity, machine.PowerOff{Mode: machine.Soft, Grace: tr.ShortGrace})
			wantError(t, "Stop", err, machine.ErrBusy)
			observed := tr.get(t, spec.Identity)
			if observed.State != machine.StateRunning && observed.State != machine.StateStopping {
				t.Errorf("the machine is %s after a soft stop that it ignores", observed.State)
			}
		},
		"a soft stop that is not obeyed ends with a hard one": func(t *testing.T, tr *trial) {
			spec := tr.stubborn(t)
			err := tr.Driver.Stop(limited(t), spec.Identity, machine.PowerOff{Mode: machine.TrySoft, Grace: tr.ShortGrace})
			wantSuccess(t, "Stop", err)
			tr.wantState(t, spec.Identity, machine.StateStopped)
		},
	}
}

// stubborn returns the spec of a machine that runs and does not obey a soft stop.
func (tr *trial) stubborn(t *testing.T) machine.Spec {
	t.Helper()
	tr.needs(t, tr.Ignore != nil, "the subject cannot make machines that ignore a soft stop")
	spec := tr.Ignore(tr.spec())
	tr.create(t, spec)
	tr.start(t, spec.Identity)
	return spec
}
