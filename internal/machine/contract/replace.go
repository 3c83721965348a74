// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
)

// replacing: the old machine stays until the host has accepted the new one.
func replacing() cases {
	return cases{
		"a replaced machine is as specified and has never run": func(t *testing.T, tr *trial) {
			tr.needsReplace(t)
			old := tr.running(t)
			before := tr.get(t, old.Identity)
			replaced, err := tr.Driver.Replace(limited(t), other(old), pullThePlug())
			wantSuccess(t, "Replace", err)
			if replaced.ID == before.ID || replaced.NativeName != before.NativeName || replaced.State != machine.StateCreated ||
				replaced.SpecHash != other(old).Hash || replaced.Resources != other(old).Resources {
				t.Errorf("%+v was replaced with %+v", before, replaced)
			}
			if diff := cmp.Diff(replaced, tr.get(t, old.Identity)); diff != "" {
				t.Errorf("Get does not return what Replace did (-replace +get):\n%s", diff)
			}
			tr.wantOne(t)
			tr.start(t, old.Identity)
		},
		"a machine that was replaced already is left alone": func(t *testing.T, tr *trial) {
			tr.needsReplace(t)
			spec := tr.running(t)
			before := tr.get(t, spec.Identity)
			again, err := tr.Driver.Replace(limited(t), spec, pullThePlug())
			wantSuccess(t, "Replace", err)
			if again.ID != before.ID || again.State != machine.StateRunning {
				t.Errorf("Replace has made %+v of %+v", again, before)
			}
			tr.wantSame(t, before)
		},
		"replacing what does not exist creates it": func(t *testing.T, tr *trial) {
			tr.needsReplace(t)
			spec := tr.spec()
			tr.removeAtEnd(t, spec.Identity)
			wantSuccess(t, "Prepare", tr.Driver.Prepare(limited(t), spec))
			made, err := tr.Driver.Replace(limited(t), spec, pullThePlug())
			wantSuccess(t, "Replace", err)
			if made.State != machine.StateCreated || made.SpecHash != spec.Hash {
				t.Errorf("Replace has made %+v", made)
			}
			tr.wantOne(t)
		},
		"a size that the host refuses leaves the old machine running": func(t *testing.T, tr *trial) {
			tr.needsReplace(t)
			old := tr.running(t)
			before := tr.get(t, old.Identity)
			greedy := other(old)
			greedy.Resources.MilliCPU = 2*tr.info.Capacity.MilliCPU + 1000
			_, err := tr.Driver.Replace(limited(t), greedy, pullThePlug())
			wantError(t, "Replace", err, machine.ErrNoCapacity)
			if now := tr.wantSame(t, before); now.State != machine.StateRunning {
				t.Errorf("the old machine is %s", now.State)
			}
			tr.wantOne(t)
		},
		"an image that is not on the host leaves the old machine running": func(t *testing.T, tr *trial) {
			tr.needsReplace(t)
			tr.needs(t, tr.MissingImage != "", "the subject has no image that is missing")
			old := tr.running(t)
			before := tr.get(t, old.Identity)
			missing := other(old)
			missing.Image.Name = tr.MissingImage
			_, err := tr.Driver.Replace(limited(t), missing, pullThePlug())
			wantError(t, "Replace", err, machine.ErrImageNotFound)
			if now := tr.wantSame(t, before); now.State != machine.StateRunning {
				t.Errorf("the old machine is %s", now.State)
			}
		},
		"a machine that does not obey a soft stop is not replaced": func(t *testing.T, tr *trial) {
			tr.needsReplace(t)
			old := tr.stubborn(t)
			before := tr.get(t, old.Identity)
			_, err := tr.Driver.Replace(limited(t), other(old), machine.PowerOff{Mode: machine.Soft, Grace: tr.ShortGrace})
			wantError(t, "Replace", err, machine.ErrBusy)
			tr.wantSame(t, before)
			tr.wantOne(t)
		},
		"guests are not replaced": func(t *testing.T, tr *trial) {
			tr.needs(t, !tr.info.Capabilities.Containers, "the driver runs containers")
			old := tr.created(t)
			before := tr.get(t, old.Identity)
			_, err := tr.Driver.Replace(limited(t), other(old), pullThePlug())
			wantError(t, "Replace", err, machine.ErrUnsupported)
			tr.wantSame(t, before)
		},
	}
}

// other returns the spec of a machine to replace that of the spec with.
func other(spec machine.Spec) machine.Spec {
	spec.Hash += "-other"
	spec.Resources.MemoryBytes *= 2
	return spec
}

func (tr *trial) needsReplace(t *testing.T) {
	t.Helper()
	tr.needs(t, tr.info.Capabilities.Containers, "the machines of the driver are not replaced")
}

// wantOne checks that the installation of the case has one machine.
func (tr *trial) wantOne(t *testing.T) {
	t.Helper()
	list, err := tr.Driver.List(limited(t), tr.installation)
	wantSuccess(t, "List", err)
	if len(list) != 1 {
		t.Errorf("there are %d machines, want one: %+v", len(list), list)
	}
}
