// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// explain wraps the error of a call that was made with ctx: what failed, of which kind the failure is, and libvirt's own error.
func explain(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		// The error of a connection that was closed during a call says nothing useful.
		return fmt.Errorf("cannot %s: %w", what, ended)
	}
	kind := kindOf(err)
	if kind == nil {
		return fmt.Errorf("cannot %s: %w", what, err)
	}
	return fmt.Errorf("cannot %s: %w: %w", what, kind, err)
}

// kindOf returns the kind of libvirt's error. Nil if it has none, or if the error already has a kind: the caller knows better than libvirt's
// error number what a failure means.
func kindOf(err error) error {
	for _, said := range []error{
		machine.ErrNotFound, machine.ErrConflict, machine.ErrInvalid, machine.ErrUnsupported, machine.ErrImageNotFound,
		machine.ErrDiskMismatch, machine.ErrDiskLost, machine.ErrNoCapacity, machine.ErrUnreachable, machine.ErrBusy, machine.ErrRestartRequired,
	} {
		if errors.Is(err, said) {
			return nil
		}
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil
	case unreachable(err):
		return machine.ErrUnreachable
	case is(err, libvirt.ErrNoDomain):
		return machine.ErrNotFound
	case is(err, libvirt.ErrResourceBusy, libvirt.ErrOperationTimeout, libvirt.ErrOperationInvalid, libvirt.ErrAgentUnresponsive):
		return machine.ErrBusy
	case is(err, libvirt.ErrXMLError, libvirt.ErrXMLDetail, libvirt.ErrXMLInvalidSchema, libvirt.ErrInvalidArg):
		return machine.ErrInvalid
	case is(err, libvirt.ErrNoSupport, libvirt.ErrConfigUnsupported, libvirt.ErrArgumentUnsupported, libvirt.ErrOperationUnsupported),
		errors.Is(err, libvirt.ErrUnsupported):
		return machine.ErrUnsupported
	default:
		return nil
	}
}

// is reports whether the error has one of libvirt's numbers.
func is(err error, numbers ...libvirt.ErrorNumber) bool {
	said, ok := errors.AsType[libvirt.Error](err)
	return ok && slices.ContainsFunc(numbers, func(n libvirt.ErrorNumber) bool { return int64(n) == int64(said.Code) })
}

// unreachable reports whether the daemon cannot be reached, or disappeared during the call.
func unreachable(err error) bool {
	if errors.Is(err, machine.ErrUnreachable) || errors.Is(err, libvirt.ErrInterrupted) {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	// The library returns EINVAL for a call on a closed connection.
	for _, broken := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, syscall.EINVAL, errClosed,
	} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}
