// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package event lets controllers describe events as values, so that a pass can collect them and emit them only when
// its status write has succeeded: an event says what happened, not what was attempted.
package event

import (
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

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

// NewRecorder returns a Recorder that writes to the events.k8s.io API, and a line for each event to the log.
func NewRecorder(sink events.EventRecorder, log logr.Logger) Recorder {
	return &recorder{sink: sink, log: log}
}

type recorder struct {
	sink events.EventRecorder
	log  logr.Logger
}

// Record implements Recorder.
func (r *recorder) Record(list ...Event) {
	for _, e := range list {
		eventType := corev1.EventTypeNormal
		if e.Warning {
			eventType = corev1.EventTypeWarning
		}
		note := status.Clip(e.Note, maxNote)
		r.sink.Eventf(e.Regarding, e.Related, eventType, e.Reason, e.Action, "%s", note)
		r.log.Info(note, "type", eventType, "kind", kindOf(e.Regarding), "object", nameOf(e.Regarding), "reason", e.Reason)
	}
}

// kindOf returns the name of the object's type: objects from a cache do not carry their kind.
func kindOf(object runtime.Object) string {
	kind := fmt.Sprintf("%T", object)
	return kind[strings.LastIndex(kind, ".")+1:]
}

func nameOf(object runtime.Object) klog.ObjectRef {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return klog.ObjectRef{}
	}
	return klog.KRef(accessor.GetNamespace(), accessor.GetName())
}
