// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e runs the built binary as a user would: with its command line, real processes and real crashes. It needs
// the binary at ../bin/devcluster or where DEVCLUSTER_BIN says, because building it here would take minutes.
package e2e
