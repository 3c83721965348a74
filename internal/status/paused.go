// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PausedAnnotation on an object of Windlass stops Windlass from acting on it: with the value "true" until somebody removes it, with
// a time in the format of RFC 3339 until then. Windlass still keeps the status up to date, and the object can still be deleted.
const PausedAnnotation = "windlass.io/paused"

const (
	pausedForGood = "true"
	notPaused     = "false"
	// maxPausedValue is how much of a value that nobody understands is quoted.
	maxPausedValue = 64
)

// IsPaused reports whether the object is paused. One whose time has come stays paused until its controller has removed the
// annotation: so no two controllers differ about it, and no planner needs a clock. One with a value that means nothing is paused as well: who
// wrote it wanted a pause.
func IsPaused(obj client.Object) bool {
	value := obj.GetAnnotations()[PausedAnnotation]
	return value != "" && value != notPaused
}

// PausedUntil returns the time at which the pause ends by itself, and whether it does.
func PausedUntil(obj metav1.Object) (time.Time, bool) {
	until, err := time.Parse(time.RFC3339, obj.GetAnnotations()[PausedAnnotation])
	return until, err == nil
}

// pausedMessage returns the message of the condition Paused of every kind.
func pausedMessage(obj client.Object) string {
	value := obj.GetAnnotations()[PausedAnnotation]
	if value == pausedForGood {
		return fmt.Sprintf("Windlass does not act on this object while the annotation %s is %q", PausedAnnotation, value)
	}
	if until, ok := PausedUntil(obj); ok {
		return fmt.Sprintf("Windlass does not act on this object until %s, the time in the annotation %s",
			until.UTC().Format(time.RFC3339), PausedAnnotation)
	}
	return fmt.Sprintf("Windlass does not act on this object: the annotation %s is %q, which is neither %q nor a time such as "+
		"2030-01-31T18:00:00Z: correct or remove it", PausedAnnotation, Clip(value, maxPausedValue), pausedForGood)
}
