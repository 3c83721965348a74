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

	// Console opens a console of a machine that runs: what it prints from now on, and what is typed. It ends with io.EOF when the
	// machine is off or its program ends, and when ctx ends or it is closed; nothing of it is left on the host then, or after the next Start
	// if the machine is suspended. ErrNotFound if there is no machine, ErrOff if it does not run, ErrConsoleHeld if somebody else has its only
	// console, ErrNoShell if the console is a shell and it has none, ErrUnsupported without Capabilities.Console or if this machine has no console.
	Console(ctx context.Context, id Identity) (Console, error)
}

// OutputOptions says which part of the output of a machine is read.
type OutputOptions struct {
	// Tail is how many lines are read of what was written before, negative for all.
	Tail int
	// Follow continues with what the machine writes from now on.
	Follow bool
}

// Console is a console that is open. What is read is what the machine prints, and what is written is typed. Reading, writing and closing can
// happen at the same time. A reader that is slow holds up the machine or loses what it prints, as the host has it, and costs no memory.
type Console interface {
	io.ReadWriteCloser

	// Resize says how many characters the terminal of the reader has. A console without a size, such as a serial one, ignores it.
	Resize(ctx context.Context, width, height uint16) error
}
