// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import "errors"

// The kinds of errors that callers distinguish.
var (
	// ErrBusy: another run of the cluster, or of its file, is under way.
	ErrBusy = errors.New("another run of this cluster is under way")
	// ErrLimit: the maximum number of runs is under way.
	ErrLimit = errors.New("the maximum number of runs is under way")
	// ErrNoRun: the cluster has had no run.
	ErrNoRun = errors.New("this cluster has had no run")
	// ErrToolMissing: the tool is not installed, or cannot be executed.
	ErrToolMissing = errors.New("tool not found")
	// ErrDiskFull: the disk is full.
	ErrDiskFull = errors.New("no space left on the disk")
	// ErrPathRefused: the configuration is outside of the directory that is allowed for it.
	ErrPathRefused = errors.New("the path of the configuration is not allowed")
)
