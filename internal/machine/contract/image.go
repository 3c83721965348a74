// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// fetching: what a machine is made from is there before it is, or is refused with its reason.
func fetching() cases {
	const missing = "every image that is asked for is there"
	return cases{
		"an image that is there is fetched once and again": func(t *testing.T, tr *trial) {
			spec := tr.spec()
			wantSuccess(t, "Prepare", tr.Driver.Prepare(limited(t), spec))
			wantSuccess(t, "Prepare again", tr.Driver.Prepare(limited(t), spec))
			tr.wantNone(t, spec.Identity)
		},
		"a missing image that must not be fetched is not found": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.MissingImage != "", missing)
			spec := tr.spec()
			spec.Image = machine.Image{Name: tr.MissingImage, PullPolicy: machine.PullNever}
			wantError(t, "Prepare", tr.Driver.Prepare(limited(t), spec), machine.ErrImageNotFound)
		},
		"a missing image that cannot be fetched is refused": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.MissingImage != "", missing)
			for _, policy := range []machine.PullPolicy{machine.PullIfNotPresent, machine.PullAlways} {
				spec := tr.spec()
				spec.Image = machine.Image{Name: tr.MissingImage, PullPolicy: policy}
				err := tr.Driver.Prepare(limited(t), spec)
				wantError(t, "Prepare with "+string(policy), err, machine.ErrImageNotFound, machine.ErrImagePull)
			}
		},
		"a pull that is refused may be tried again": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.RefusedImage != "", "nothing is ever fetched")
			spec := tr.spec()
			spec.Image = machine.Image{Name: tr.RefusedImage, PullPolicy: machine.PullAlways}
			wantError(t, "Prepare", tr.Driver.Prepare(limited(t), spec), machine.ErrImagePull)
		},
		"no error speaks of a password": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.RefusedImage != "", "nothing is ever fetched")
			const password = "correct-horse-battery"
			spec := tr.spec()
			spec.Image = machine.Image{Name: tr.RefusedImage, PullPolicy: machine.PullAlways, Registry: &machine.RegistryAuth{
				Username: "somebody", Password: password,
			}}
			err := tr.Driver.Prepare(limited(t), spec)
			wantError(t, "Prepare", err, machine.ErrImagePull)
			if err != nil && strings.Contains(err.Error(), password) {
				t.Error("the error holds the password") // which is not repeated here either
			}
		},
		"no machine is made from a missing image": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.MissingImage != "", missing)
			spec := tr.spec()
			spec.Image = machine.Image{Name: tr.MissingImage, PullPolicy: machine.PullNever}
			tr.removeAtEnd(t, spec.Identity)
			_, err := tr.Driver.Create(limited(t), spec)
			wantError(t, "Create", err, machine.ErrImageNotFound)
			tr.wantNone(t, spec.Identity)
		},
	}
}
