// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"context"
	"io"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Output implements machine.Driver. A simulated machine runs no programs, so the host writes for it: when it was powered on and off.
func (d *driver) Output(ctx context.Context, id machine.Identity, options machine.OutputOptions) (io.ReadCloser, error) {
	var out *reader
	err := d.do(ctx, CallOutput, id.UID, locked(func(h *Host) error {
		g := h.find(id)
		if g == nil {
			return machine.ErrNotFound
		}
		out = g.printed.read(ctx, options)
		return nil
	}))
	if err != nil {
		return nil, err
	}
	return out, nil
}
