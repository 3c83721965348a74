// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// deleting: in every phase, repeatedly, and no other machine.
func deleting() cases {
	table := cases{
		"other machines of the installation stay": func(t *testing.T, tr *trial) {
			gone, stays := tr.running(t), tr.running(t)
			before := tr.get(t, stays.Identity)
			wantSuccess(t, "Delete", tr.Driver.Delete(limited(t), gone.Identity, pullThePlug()))
			tr.wantNone(t, gone.Identity)
			if now := tr.wantSame(t, before); now.State != machine.StateRunning {
				t.Errorf("the other machine is %s, want it to run", now.State)
			}
		},
		"a machine of another installation stays": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			before := tr.get(t, spec.Identity)
			foreign := spec.Identity
			foreign.Installation = newUUID()
			wantSuccess(t, "Delete", tr.Driver.Delete(limited(t), foreign, pullThePlug()))
			if now := tr.wantSame(t, before); now.State != machine.StateRunning {
				t.Errorf("the machine of another installation is %s, want it to run", now.State)
			}
		},
		"a machine that does not obey a soft stop is not deleted": func(t *testing.T, tr *trial) {
			spec := tr.stubborn(t)
			before := tr.get(t, spec.Identity)
			err := tr.Driver.Delete(limited(t), spec.Identity, machine.PowerOff{Mode: machine.Soft, Grace: tr.ShortGrace})
			wantError(t, "Delete", err, machine.ErrBusy)
			tr.wantSame(t, before)
		},
		"a machine that does not obey is stopped hard and deleted": func(t *testing.T, tr *trial) {
			spec := tr.stubborn(t)
			err := tr.Driver.Delete(limited(t), spec.Identity, machine.PowerOff{Mode: machine.TrySoft, Grace: tr.ShortGrace})
			wantSuccess(t, "Delete", err)
			tr.wantNone(t, spec.Identity)
		},
		"a deleted machine can be made again": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			wantSuccess(t, "Delete", tr.Driver.Delete(limited(t), spec.Identity, pullThePlug()))
			if again := tr.create(t, spec); again.State != machine.StateCreated {
				t.Errorf("the new machine is %s, want %s", again.State, machine.StateCreated)
			}
		},
	}
	for phase, reach := range phases() {
		table["a machine that "+phase+" is deleted, twice"] = func(t *testing.T, tr *trial) {
			id := reach(t, tr)
			how := machine.PowerOff{Mode: machine.TrySoft, Grace: grace}
			wantSuccess(t, "Delete", tr.Driver.Delete(limited(t), id, how))
			tr.wantNone(t, id)
			wantSuccess(t, "Delete again", tr.Driver.Delete(limited(t), id, how))
		}
	}
	return table
}

// phases bring a machine to each phase of its life.
func phases() map[string]func(t *testing.T, tr *trial) machine.Identity {
	return map[string]func(t *testing.T, tr *trial) machine.Identity{
		"never was":     func(_ *testing.T, tr *trial) machine.Identity { return tr.identity() },
		"has never run": func(t *testing.T, tr *trial) machine.Identity { return tr.created(t).Identity },
		"runs":          func(t *testing.T, tr *trial) machine.Identity { return tr.running(t).Identity },
		"is off":        func(t *testing.T, tr *trial) machine.Identity { return tr.stopped(t).Identity },
		"was killed": func(t *testing.T, tr *trial) machine.Identity {
			tr.needs(t, tr.Kill != nil, "the subject cannot kill machines")
			spec := tr.running(t)
			tr.Kill(t, spec.Identity)
			return spec.Identity
		},
		"was removed": func(t *testing.T, tr *trial) machine.Identity {
			tr.needs(t, tr.Remove != nil, "the subject cannot remove machines")
			spec := tr.running(t)
			tr.Remove(t, spec.Identity)
			return spec.Identity
		},
		"has no image": func(t *testing.T, tr *trial) machine.Identity {
			tr.needs(t, tr.MissingImage != "", "the subject has no missing image")
			spec := tr.spec()
			spec.Image = machine.Image{Name: tr.MissingImage, PullPolicy: machine.PullNever}
			_, err := tr.Driver.Create(limited(t), spec)
			wantError(t, "Create", err, machine.ErrImageNotFound)
			return spec.Identity
		},
	}
}
