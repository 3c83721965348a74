// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package provision is the contract between a Cluster and whatever provisions it, and all that is known about the tools that do:
// how they are called, what their configuration says, what their logs mean. It is pure but for the interface; the one
// implementation, which runs tools as supervised processes, is package exec below it.
//
// What a Provisioner promises:
//
//   - A run goes on when the process that started it ends, and is found again by the next one. Where it cannot have gone on, it is
//     known as Interrupted.
//   - There is at most one run of a cluster at a time, and one for each id: starting it again finds it.
//   - A run ends. Whatever the tool does, its processes are gone after timeout and grace.
//   - Nothing that a tool prints reaches a caller with private keys, passwords or tokens in it.
package provision
