// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package contract is the test suite of what a Provisioner promises, which everything that runs tools passes with a real tool. The tests of
// an implementation describe it in a Subject and call Run.
package contract

import (
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/provision"
)

// Subject is what runs tools, with room of its own for two runs at the same time.
type Subject struct {
	// Again returns another Provisioner on the same place, as a manager that was started again has it. It tells of changes until the
	// test ends.
	Again func(t *testing.T) provision.Provisioner
	// Place returns the place of a cluster that exists. Default: any name will do.
	Place func(t *testing.T) provision.Place
	// Command calls Play, with the arguments that follow.
	Command []string
	// Crash ends the cluster's run without a word, as a machine that is switched off.
	Crash func(t *testing.T, cluster string)
	// Hidden is the name of a variable that is set for the manager and meant for no tool.
	Hidden string
	// Patience is how long a case waits for something to become true. Default: 5 min.
	Patience time.Duration
}
