// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package component

// lookupNode knows none: a node that runs containers is Linux.
func lookupNode(string) (Main, bool) { return nil, false }
