// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package component

// lookupNode returns no components: a node that runs containers needs Linux.
func lookupNode(string) (Main, bool) { return nil, false }
