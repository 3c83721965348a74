// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import "errors"

// The kinds of errors that a caller treats differently.
var (
	// ErrBusy: another run of the cluster is under way.
	ErrBusy = errors.New("another run of this cluster is under way")
	// ErrLimit: as many runs are under way as may.
	ErrLimit = errors.New("as many runs are under way as may")
	// ErrNoRun: there has been no run of the cluster.
	ErrNoRun = errors.New("no run of this cluster")
	// ErrToolMissing: the tool is not installed, or cannot be executed.
	ErrToolMissing = errors.New("tool not found")
	// ErrDiskFull: there is no room on the disk.
	ErrDiskFull = errors.New("no space left on the disk")
)
