// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"fmt"
	"io"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Output implements machine.Driver.
func (d *driver) Output(ctx context.Context, id machine.Identity, _ machine.OutputOptions) (io.ReadCloser, error) {
	if _, err := d.find(ctx, id); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("cannot read the output of machine %q: %w: libvirt keeps none", id.UID, machine.ErrUnsupported)
}
