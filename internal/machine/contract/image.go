// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// fetching: the image is there before the machine is made, or is refused with a reason.
func fetching() cases {
	const missing = "the subject has no missing image"
	return cases{
		"Prepare can be repeated": func(t *testing.T, tr *trial) {
			spec := tr.spec()
			wantSuccess(t, "Prepare", tr.Driver.Prepare(limited(t), spec))
			wantSuccess(t, "Prepare again", tr.Driver.Prepare(limited(t), spec))
			tr.wantNone(t, spec.Identity)
		},
		"a missing image with pullPolicy Never is not found": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.MissingImage != "", missing)
			spec := tr.spec()
			spec.Image = machine.Image{Name: tr.MissingImage, PullPolicy: machine.PullNever}
			wantError(t, "Prepare", tr.Driver.Prepare(limited(t), spec), machine.ErrImageNotFound)
		},
		"a missing image is refused": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.MissingImage != "", missing)
			for _, policy := range []machine.PullPolicy{machine.PullIfNotPresent, machine.PullAlways} {
				spec := tr.spec()
				spec.Image = machine.Image{Name: tr.MissingImage, PullPolicy: policy}
				wanted := []error{machine.ErrImageNotFound, machine.ErrImagePull}
				if policy == machine.PullAlways && tr.RefusedImage == "" { // the driver never fetches images
					wanted = []error{machine.ErrUnsupported}
				}
				wantError(t, "Prepare with "+string(policy), tr.Driver.Prepare(limited(t), spec), wanted...)
			}
		},
		"a pull that is refused can be retried": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.RefusedImage != "", "the driver never fetches images")
			spec := tr.spec()
			spec.Image = machine.Image{Name: tr.RefusedImage, PullPolicy: machine.PullAlways}
			wantError(t, "Prepare", tr.Driver.Prepare(limited(t), spec), machine.ErrImagePull)
		},
		"no error contains a password": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.RefusedImage != "", "the driver never fetches images")
			const password = "correct-horse-battery"
			spec := tr.spec()
			spec.Image = machine.Image{Name: tr.RefusedImage, PullPolicy: machine.PullAlways, Registry: &machine.RegistryAuth{
				Username: "somebody", Password: password,
			}}
			err := tr.Driver.Prepare(limited(t), spec)
			wantError(t, "Prepare", err, machine.ErrImagePull)
			if err != nil && strings.Contains(err.Error(), password) {
				t.Error("the error contains the password") // which this line must not repeat
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
