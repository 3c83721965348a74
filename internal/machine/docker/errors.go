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

// explain adds to an error of the engine what failed and the kind of the error. The call was made with ctx.
func explain(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		// The context cut the connection: what the client says about that is noise.
		return fmt.Errorf("cannot %s: %w", what, ended)
	}
	kind := kindOf(err)
	if kind == nil || errors.Is(err, kind) {
		return fmt.Errorf("cannot %s: %w", what, err)
	}
	return fmt.Errorf("cannot %s: %w: %w", what, kind, err)
}

// kindOf returns the kind of an error of the engine, nil if it has none.
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

// unreachable reports whether the engine cannot be reached, or went away while it answered.
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
