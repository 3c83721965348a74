// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package event lets controllers describe events as values, so that a pass can collect them and emit them only when
// its status write has succeeded: an event says what happened, not what was attempted.
package event

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/windlass-operator/windlass/internal/status"
)

// maxNote is the length that the events API allows a note.
const maxNote = 1024

// Event says, in the past tense and with the value, what happened to an object.
type Event struct {
	// Regarding is the object that the event is about.
	Regarding runtime.Object
	// Related is another object that took part, or nil.
	Related runtime.Object
	// Warning is true if somebody should act or investigate.
	Warning bool
	// Reason is an exported constant of the kind's API package.
	Reason string
	// Action is what Windlass was doing, as one word in CamelCase.
	Action string
	// Note is the sentence for people.
	Note string
}

// Recorder emits events.
type Recorder interface {
	// Record emits the list in order. It never blocks on the API server.
	Record(list ...Event)
}

// NewRecorder returns a Recorder that writes to the events.k8s.io API.
func NewRecorder(sink events.EventRecorder) Recorder { return &recorder{sink: sink} }

type recorder struct{ sink events.EventRecorder }

// Record implements Recorder.
func (r *recorder) Record(list ...Event) {
	for _, e := range list {
		eventType := corev1.EventTypeNormal
		if e.Warning {
			eventType = corev1.EventTypeWarning
		}
		r.sink.Eventf(e.Regarding, e.Related, eventType, e.Reason, e.Action, "%s", status.Clip(e.Note, maxNote))
	}
}
