// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/status"
)

// PauseRequest says when a pause ends. Empty, it lasts until somebody ends it.
type PauseRequest struct {
	// Until is a time in the future.
	Until *time.Time `json:"until,omitempty" format:"date-time" doc:"When the pause ends by itself. The default is never" example:"2030-01-31T18:00:00Z"`
	// Seconds is how long it lasts, from the time of the server.
	Seconds int64 `json:"seconds,omitempty" minimum:"1" maximum:"31536000" doc:"How many seconds the pause lasts, instead of until" example:"7200"`
}

// Pause stops Windlass from acting on an object.
func Pause(of metav1.Object, want PauseRequest, now time.Time) error {
	value := "true"
	switch {
	case want.Until != nil && want.Seconds != 0:
		return wrongField("seconds", "and until exclude each other: leave one of them out")
	case want.Until != nil && !want.Until.After(now):
		return wrongField("until", "is in the past: the pause would end at once")
	case want.Until != nil:
		value = want.Until.UTC().Format(time.RFC3339)
	case want.Seconds != 0:
		value = now.Add(time.Duration(want.Seconds) * time.Second).UTC().Format(time.RFC3339)
	}
	annotate(of, status.PausedAnnotation, value)
	return nil
}

// Resume lets Windlass act on an object again.
func Resume(of metav1.Object) {
	annotations := of.GetAnnotations()
	delete(annotations, status.PausedAnnotation)
	of.SetAnnotations(annotations)
}

func annotate(of metav1.Object, key, value string) {
	annotations := of.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	of.SetAnnotations(annotations)
}
