// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"fmt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Console implements machine.Driver.
func (*driver) Console(context.Context, machine.Identity) (machine.Console, error) {
	return nil, fmt.Errorf("cannot open a console: %w", machine.ErrUnsupported)
}
