// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package realnode

// snapshotter is never called: there are no real nodes on this system.
func snapshotter(string) string { return "native" }

// lacksResources is never called either.
func lacksResources() (bool, error) { return true, nil }
