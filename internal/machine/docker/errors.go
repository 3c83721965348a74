// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// explain says what could not be done, of which kind the failure is, and what the engine said. It takes the error of a call that
// was made with ctx.
func explain(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		// What the engine's client says about a connection that was cut for it is noise.
		return fmt.Errorf("cannot %s: %w", what, ended)
	}
	kind := kindOf(err)
	if kind == nil || errors.Is(err, kind) {
		return fmt.Errorf("cannot %s: %w", what, err)
	}
	return fmt.Errorf("cannot %s: %w: %w", what, kind, err)
}

// kindOf returns what a caller has to know of the engine's error, nil if there is nothing.
func kindOf(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil
	case unreachable(err):
		return machine.ErrUnreachable
	case errdefs.IsNotFound(err):
		return machine.ErrNotFound
	case errdefs.IsConflict(err):
		return machine.ErrBusy
	case errdefs.IsInvalidArgument(err):
		return machine.ErrInvalid
	case errdefs.IsNotImplemented(err):
		return machine.ErrUnsupported
	default:
		return nil
	}
}

// unreachable tells whether the engine cannot be reached, or went away while it answered.
func unreachable(err error) bool {
	if client.IsErrConnectionFailed(err) || errdefs.IsUnavailable(err) {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}
