// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package placement chooses the host for a machine. It is pure: callers say which hosts there are and what has been given
// away of them, and get the same answer whoever asks.
package placement
