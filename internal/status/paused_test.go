// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

func TestPaused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		value   string
		paused  bool
		until   string // empty for a pause without an end
		message string // a part of it
	}{
		"without the annotation":            {},
		"false is no pause":                 {value: "false"},
		"true has no end":                   {value: "true", paused: true, message: `while the annotation windlass.io/paused is "true"`},
		"a time ends it":                    {value: "2026-01-02T05:00:00Z", paused: true, until: "2026-01-02T05:00:00Z", message: "until 2026-01-02T05:00:00Z, the time in the annotation"},
		"a time of another zone":            {value: "2026-01-02T05:00:00+08:00", paused: true, until: "2026-01-01T21:00:00Z", message: "until 2026-01-01T21:00:00Z"},
		"a time that has come still pauses": {value: "2000-01-01T00:00:00Z", paused: true, until: "2000-01-01T00:00:00Z", message: "until 2000-01-01T00:00:00Z"},
		"a duration is no time, and pauses": {value: "2h", paused: true, message: `is "2h", which is neither "true" nor a time such as`},
		"a date is no time, and pauses":     {value: "2026-01-02", paused: true, message: `is "2026-01-02", which`},
		"nonsense is quoted, and not whole": {value: strings.Repeat("\x1b[2J", 100), paused: true, message: `is "`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &appsv1alpha1.PodSet{}
			if test.value != "" {
				object.Annotations = map[string]string{status.PausedAnnotation: test.value}
			}
			if status.IsPaused(object) != test.paused {
				t.Errorf("it is paused: %t", !test.paused)
			}
			until, ok := status.PausedUntil(object)
			if got := until.UTC().Format(time.RFC3339); ok != (test.until != "") || ok && got != test.until {
				t.Errorf("it is paused until %s, %t", got, ok)
			}
			if !test.paused {
				return
			}
			marks := status.Declaration{}.Begin()
			marks.Pause(object)
			marks.Apply(object, time.Unix(0, 0))
			condition := conditionOf(object.Status.Conditions, status.Paused)
			if condition.Status != metav1.ConditionTrue || !strings.Contains(condition.Message, test.message) ||
				len(condition.Message) > 400 || strings.Contains(condition.Message, "\x1b") {
				t.Errorf("the condition is %+v", condition)
			}
		})
	}
}

func conditionOf(list []metav1.Condition, conditionType string) metav1.Condition {
	for _, condition := range list {
		if condition.Type == conditionType {
			return condition
		}
	}
	return metav1.Condition{}
}
