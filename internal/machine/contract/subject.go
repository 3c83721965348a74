// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package contract is the suite that every driver of package machine passes: what a caller may rely on, shown on the real
// thing. A driver's tests describe themselves in a Subject and call Run.
package contract

import (
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Subject is a driver with the hands that reach behind its back, as a crash or an administrator would. A field that is nil
// says that this cannot happen to the driver, and the cases that need it are skipped with that sentence.
type Subject struct {
	// Driver under test. Run closes it.
	Driver machine.Driver
	// Again opens another driver on the same host, as a restarted manager would.
	Again func(t *testing.T) machine.Driver
	// Spec returns a spec that the host can run, with the given identity and all else set; it keeps running until it is stopped and
	// obeys a soft stop. A dozen of them have to fit on the host, and each of them doubled.
	Spec func(id machine.Identity) machine.Spec
	// MissingImage is the name of an image that is not there, and PullPolicy Always or IfNotPresent has to be refused.
	MissingImage string
	// RefusedImage is the name of an image that cannot be fetched now, although it may be there: a registry that refuses or does
	// not answer. Empty where nothing is ever fetched.
	RefusedImage string
	// Kill ends the machine from outside, as a crash would.
	Kill func(t *testing.T, id machine.Identity)
	// Remove takes the machine away from outside.
	Remove func(t *testing.T, id machine.Identity)
	// Occupy makes a foreign machine with the native name that a machine with this identity would get first, and returns a
	// check that it is still there, untouched.
	Occupy func(t *testing.T, id machine.Identity) (untouched func(t *testing.T))
	// Cut makes the host unreachable, and returns what brings it back.
	Cut func(t *testing.T) (mend func(t *testing.T))
	// ShortGrace is what machines that do not obey are given. Default: a second, the smallest that some hosts know.
	ShortGrace time.Duration
	// Patience is how long a case waits for something to become true. Default: 2 min.
	Patience time.Duration
	// Ignore makes machines that do not obey a soft stop, nil where none can be made.
	Ignore func(spec machine.Spec) machine.Spec
	// Load makes a machine that uses the processor, nil where it cannot be told to.
	Load func(spec machine.Spec) machine.Spec
}
