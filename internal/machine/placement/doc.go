// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package placement chooses the host for a machine. It is pure: callers say which hosts there are and what is allocated on them,
// and the same input always has the same answer.
package placement
