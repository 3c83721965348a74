// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dockertest runs a Docker Engine of its own for a test: the real dockerd, in namespaces of its own. It has its own processes, mounts,
// network and files, and can reach nothing but itself; when the test ends, or dies, the kernel takes all of it away. Nothing that the
// machine otherwise runs is seen or touched, least of all another engine.
package dockertest
