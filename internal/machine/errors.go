// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import "errors"

// The kinds of errors that a caller treats differently. A driver wraps them with fmt.Errorf and %w, beside the host's own
// words; none of them ever carries a credential.
var (
	// ErrNotFound: no machine has that identity.
	ErrNotFound = errors.New("machine not found")
	// ErrConflict: the name is taken by a machine that is not ours.
	ErrConflict = errors.New("name taken by a foreign machine")
	// ErrInvalid: the host refuses the spec, and will go on refusing it.
	ErrInvalid = errors.New("invalid machine")
	// ErrUnsupported: the driver cannot do that on this host.
	ErrUnsupported = errors.New("not supported by the driver")
	// ErrImageNotFound: the image does not exist, here or at its registry.
	ErrImageNotFound = errors.New("image not found")
	// ErrImagePull: fetching the image failed; trying again may help.
	ErrImagePull = errors.New("cannot fetch image")
	// ErrNoCapacity: the host cannot give that much.
	ErrNoCapacity = errors.New("host has not enough capacity")
	// ErrNoHost: no host with that name, or none with that driver, is configured.
	ErrNoHost = errors.New("no such host is configured")
	// ErrUnreachable: the host does not answer, so nothing is known of its machines.
	ErrUnreachable = errors.New("host unreachable")
	// ErrBusy: the machine does not obey right now.
	ErrBusy = errors.New("machine busy")
	// ErrRestartRequired: it takes effect only with the next start.
	ErrRestartRequired = errors.New("restart required")
)
