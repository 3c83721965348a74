// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package operation runs what takes long on a host: fetching an image, creating, starting, stopping, resizing and removing a
// machine. A controller describes the work as an Operation and hands it to a Runner, which performs it outside of the
// controller's workers. So a machine never waits for the image of another one.
//
// A Runner keeps the result of an operation until the controller acknowledges it. An operation that is interrupted, even by a
// crash of the manager, is planned again: every step is idempotent.
package operation

import (
	"slices"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Step is one call of a driver. Its text completes "cannot ... the machine".
type Step string

// The steps of operations.
const (
	Prepare Step = "fetch the image of"
	Create  Step = "create"
	Replace Step = "replace"
	Start   Step = "start"
	Stop    Step = "stop"
	Suspend Step = "suspend"
	Resume  Step = "resume"
	Resize  Step = "resize"
	Remove  Step = "remove"
)

// Operation is a sequence of steps on one machine.
type Operation struct {
	// Reason says what the operation is for, as the conditions of its machine do.
	Reason string
	Steps  []Step
	Spec   machine.Spec
	// PowerOff is how the machine is turned off.
	PowerOff machine.PowerOff
	// Generation of the object that asked for the operation.
	Generation int64
	// Again says that the machine has run before.
	Again bool
}

// Has reports whether the operation contains the step.
func (o Operation) Has(step Step) bool { return slices.Contains(o.Steps, step) }

// Progress is how far an operation has come.
type Progress struct {
	Operation

	// At is the step that the operation is at, or ended at.
	At   Step
	Done bool
	// Began is when the operation was started.
	Began time.Time
	// Adopted says that the machine existed before the step Create.
	Adopted bool
	// Err is why the operation ended early, nil if all steps succeeded.
	Err error
	// Canceled says that the operation was ended on purpose.
	Canceled bool
}

// Running reports whether there is an operation and it has not ended.
func (p *Progress) Running() bool { return p != nil && !p.Done }

// Ended reports whether there is an operation that has ended and is not acknowledged.
func (p *Progress) Ended() bool { return p != nil && p.Done }
