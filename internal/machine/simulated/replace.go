// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"context"
	"errors"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Replace implements machine.Driver.
func (d *driver) Replace(ctx context.Context, spec machine.Spec, how machine.PowerOff) (machine.Observed, error) {
	var out machine.Observed
	err := d.do(ctx, CallReplace, spec.UID, func(h *Host) error {
		if err := h.prepareReplacement(ctx, spec, how); err != nil {
			return err
		}
		return locked(func(h *Host) error {
			g := h.find(spec.Identity)
			if g == nil || g.spec.Hash != spec.Hash {
				var err error
				if g, err = h.replace(g, spec); err != nil {
					return err
				}
			}
			out = g.observe()
			return nil
		})(h)
	})
	return out, err
}

// prepareReplacement turns off the machine that is replaced, once it is known that the host accepts the other one.
func (h *Host) prepareReplacement(ctx context.Context, spec machine.Spec, how machine.PowerOff) error {
	err := locked(func(h *Host) error {
		g := h.find(spec.Identity)
		if g == nil || g.spec.Hash == spec.Hash {
			how = machine.PowerOff{} // there is nothing to turn off
			return nil
		}
		_, err := h.admit(spec, g.spec.Resources)
		return err
	})(h)
	if err != nil || how == (machine.PowerOff{}) {
		return err
	}
	if err := h.stop(ctx, spec.Identity, how); !errors.Is(err, machine.ErrNotFound) {
		return err
	}
	return nil
}

// replace makes a machine in the place of another one, nil for none.
func (h *Host) replace(old *guest, spec machine.Spec) (*guest, error) {
	if old == nil {
		return h.create(spec)
	}
	behaves, err := h.admit(spec, old.spec.Resources)
	if err != nil {
		return nil, err
	}
	h.remove(old)
	return h.add(spec, behaves)
}
