// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package realnode

// snapshotter is never asked for where there are no real nodes.
func snapshotter(string) string { return "native" }

// lacksResources is never asked for either.
func lacksResources() (bool, error) { return true, nil }
