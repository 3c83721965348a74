// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package provision is the contract between the controller of Clusters and what provisions them. It also holds what is known about the
// tools: how they are called, what their configuration says, what their logs mean. It is pure. Package exec implements the
// contract with supervised processes; package contract has the tests that every implementation passes.
//
// What a Provisioner promises:
//
//   - A run continues when the process that started it ends, and the next process finds it. A run that cannot have continued is
//     reported as Interrupted.
//   - A cluster has at most one run at a time, and one for each ID: starting the same run again finds it.
//   - A run ends. Whatever the tool does, its processes are gone after the timeout and the grace period.
//   - Callers never see private keys, passwords or tokens that a tool prints.
package provision
