// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"io"
)

// Consoles is the part of a Driver that reaches the consoles of machines.
type Consoles interface {
	// Output opens what the machine has written to its console, as far as its host keeps it, the oldest first. It also works for a
	// machine that is off, and changes nothing. A reader that follows ends when the machine is off, and every reader when ctx ends or
	// it is closed. A slow reader holds up no machine. ErrNotFound if there is no machine, ErrUnsupported without
	// Capabilities.Output or if its host does not keep the output of this machine.
	Output(ctx context.Context, id Identity, options OutputOptions) (io.ReadCloser, error)
}

// OutputOptions says which part of the output of a machine is read.
type OutputOptions struct {
	// Tail is how many lines are read of what was written before, negative for all.
	Tail int
	// Follow continues with what the machine writes from now on.
	Follow bool
}
