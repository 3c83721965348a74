// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import "errors"

// The kinds of errors that callers treat differently. A driver wraps them with fmt.Errorf and %w, together with the host's own
// error. No error ever contains a credential.
var (
	// ErrNotFound: no machine has the identity.
	ErrNotFound = errors.New("machine not found")
	// ErrConflict: a machine that is not ours has the name.
	ErrConflict = errors.New("name taken by a foreign machine")
	// ErrInvalid: the host refuses the spec, and will refuse it again.
	ErrInvalid = errors.New("invalid machine")
	// ErrUnsupported: the driver cannot do this on the host.
	ErrUnsupported = errors.New("not supported by the driver")
	// ErrImageNotFound: the image exists neither on the host nor in its registry.
	ErrImageNotFound = errors.New("image not found")
	// ErrImagePull: the image could not be fetched; trying again may help.
	ErrImagePull = errors.New("cannot fetch image")
	// ErrDiskMismatch: a disk of the machine exists and does not fit. It may hold data, so a person has to decide.
	ErrDiskMismatch = errors.New("existing disk does not fit")
	// ErrDiskLost: a disk that was made before is gone. It may hold data and come back, so a person has to decide.
	ErrDiskLost = errors.New("disk is gone")
	// ErrNoCapacity: the host does not have that much.
	ErrNoCapacity = errors.New("not enough capacity")
	// ErrNoHost: no host with the name, or none with the driver, is configured.
	ErrNoHost = errors.New("host not configured")
	// ErrNotAllowed: the configuration of the host does not allow what the spec asks for.
	ErrNotAllowed = errors.New("not allowed")
	// ErrUnreachable: the host does not answer, so nothing is known about its machines.
	ErrUnreachable = errors.New("host unreachable")
	// ErrBusy: the machine does not react right now.
	ErrBusy = errors.New("machine busy")
	// ErrOff: the machine is off, and only one that runs can do this.
	ErrOff = errors.New("machine is off")
	// ErrConsoleHeld: the machine has one console, and somebody else has it open.
	ErrConsoleHeld = errors.New("console is open elsewhere")
	// ErrNoShell: the console of the machine is a shell, and its image has none.
	ErrNoShell = errors.New("no shell")
	// ErrRestartRequired: the change takes effect only at the next start.
	ErrRestartRequired = errors.New("restart required")
)
