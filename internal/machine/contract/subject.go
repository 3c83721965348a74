// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package contract is the test suite of the promises in package machine, which every driver passes on its real host. The tests of a
// driver describe it in a Subject and call Run.
package contract

import (
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Subject is a driver under test, with the capabilities to act on its host behind its back, like a crash or an administrator. If
// a field is nil, this cannot happen to the driver, and the cases that need it are skipped.
type Subject struct {
	// Driver under test. Run closes it.
	Driver machine.Driver
	// Again opens another driver on the same host, like a restarted manager.
	Again func(t *testing.T) machine.Driver
	// Spec returns a complete spec with the given identity that the host can run. The machine runs until it is stopped, and obeys a
	// soft stop. The host must have room for a dozen of them, each of twice the size.
	// It has a root disk if the driver's machines have one that can grow.
	Spec func(id machine.Identity) machine.Spec
	// MissingImage is the name of an image that does not exist: the pull policies Always and IfNotPresent must be refused.
	MissingImage string
	// RefusedImage is the name of an image that may exist, but cannot be fetched now: its registry refuses or does not answer.
	// Empty if the driver never fetches images.
	RefusedImage string
	// Kill ends the machine like a crash.
	Kill func(t *testing.T, id machine.Identity)
	// Remove removes the machine like an administrator.
	Remove func(t *testing.T, id machine.Identity)
	// TakeDisks takes the disks that were made for the machine away, like a pool that is lost. It returns a function that puts them
	// back.
	TakeDisks func(t *testing.T, id machine.Identity) (restore func(t *testing.T))
	// Occupy makes a foreign machine with the native name that a machine with this identity would get first. It returns a check that
	// the foreign machine is unchanged.
	Occupy func(t *testing.T, id machine.Identity) (untouched func(t *testing.T))
	// Cut makes the host unreachable. It returns a function that makes it reachable again.
	Cut func(t *testing.T) (mend func(t *testing.T))
	// ShortGrace is the grace for machines that do not obey. Default: a second, the minimum of some hosts.
	ShortGrace time.Duration
	// Patience is how long a case waits for something to become true. Default: 2 min.
	Patience time.Duration
	// Ignore returns the spec of a machine that ignores a soft stop.
	Ignore func(spec machine.Spec) machine.Spec
	// Type returns what is typed into the console of a machine, so that it answers the word, and the answer. Default: the word, which the
	// machine answers with "heard: " in front of it.
	Type func(word string) (typed, answer string)
	// Load returns the spec of a machine that uses CPU.
	Load func(spec machine.Spec) machine.Spec
}
