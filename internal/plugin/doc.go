// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plugin is kubectl windlass: what Windlass does in a cluster, explained and changed with the rights of the caller. It is a
// client like kubectl: it has no cache and no rights of its own, and tells what it may not see.
//
//   - plugin.go has the command tree, its exit codes and what commands are given
//   - cluster.go reaches the cluster as kubectl does, kinds.go knows the kinds, failure.go says in a sentence what went wrong
//   - streams.go and style.go are the terminal, output.go and columns.go print
//   - change.go writes what a command changes, consent.go asks before that
//   - survey.go reads how all objects stand, standing.go says it of one, and source.go reads for explanations
//   - every command is a file with its name
package plugin
