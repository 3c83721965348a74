// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dockertest runs a private Docker Engine for a test: a real dockerd in its own namespaces, with its own processes, mounts, network
// and files. It can reach nothing but itself, and touches nothing else on the machine, in particular no other engine. When the test ends
// or dies, the kernel removes all of it.
package dockertest
