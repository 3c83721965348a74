// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/status"
)

func TestTransitions(t *testing.T) {
	t.Parallel()
	announced := []status.Announcement{
		{Condition: "Healthy", Status: metav1.ConditionTrue, Note: "The API server answered"},
		{Condition: "Healthy", Status: metav1.ConditionFalse, Warning: true},
		{Condition: status.Stalled, Status: metav1.ConditionTrue, Warning: true},
		{Condition: "Degraded", Status: metav1.ConditionTrue, Reasons: []string{"Skipped"}},
	}
	cases := map[string]struct {
		before, after []metav1.Condition
		want          []string
	}{
		"a condition that is new is announced": {
			after: conditions("Healthy=False/Down: no answer"), want: []string{"Down: no answer"},
		},
		"a note takes the place of the message": {
			before: conditions("Healthy=False/Down: no answer"), after: conditions("Healthy=True/Up: version 1"),
			want: []string{"Up: The API server answered"},
		},
		"a condition that stays is not announced": {
			before: conditions("Healthy=False/Down: no answer"), after: conditions("Healthy=False/Down: no answer"),
		},
		"another reason is announced": {
			before: conditions("Healthy=False/Down: no answer"), after: conditions("Healthy=False/Refused: 403"),
			want: []string{"Refused: 403"},
		},
		"other words of the same spec are not announced": {
			before: conditions("Healthy=False/Down: 1 try"), after: conditions("Healthy=False/Down: 2 tries"),
		},
		"other words after a change of the spec are announced": {
			before: conditions("Healthy=False/Down: no answer"), after: generation(2, conditions("Healthy=False/Down: no route")),
			want: []string{"Down: no route"},
		},
		"the same words after a change of the spec are not announced": {
			before: conditions("Healthy=False/Down: no answer"), after: generation(2, conditions("Healthy=False/Down: no answer")),
		},
		"a summary that repeats a condition is not announced again": {
			after: conditions("Healthy=False/Down: no answer", "Stalled=True/Down: no answer"), want: []string{"Down: no answer"},
		},
		"a reason that is not listed is not announced": {
			after: conditions("Degraded=True/Slow: disk"),
		},
		"a value that is not listed is not announced": {
			before: conditions("Degraded=True/Skipped: a"), after: conditions("Degraded=False/Fine: ", "Healthy=Unknown/NotObserved: "),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, transition := range status.Transitions(announced, tc.before, tc.after) {
				got = append(got, transition.Reason+": "+transition.Note)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("transitions differ (-want +got):\n%s", diff)
			}
		})
	}
}

// conditions reads conditions written as "Type=Status/Reason: message".
func conditions(texts ...string) []metav1.Condition {
	list := make([]metav1.Condition, 0, len(texts))
	for _, text := range texts {
		head, message, _ := strings.Cut(text, ": ")
		conditionType, rest, _ := strings.Cut(head, "=")
		value, reason, _ := strings.Cut(rest, "/")
		list = append(list, metav1.Condition{
			Type: conditionType, Status: metav1.ConditionStatus(value), Reason: reason, Message: message, ObservedGeneration: 1,
		})
	}
	return list
}

func generation(number int64, list []metav1.Condition) []metav1.Condition {
	for i := range list {
		list[i].ObservedGeneration = number
	}
	return list
}

func TestClip(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text  string
		limit int
		want  string
	}{
		"a short text stays":            {text: "héllo", limit: 6, want: "héllo"},
		"a long text shows the cut":     {text: "abcdefgh", limit: 6, want: "abc..."},
		"a character is not cut in two": {text: "abédefgh", limit: 6, want: "ab..."},
		"what is not UTF-8 is replaced": {text: "a\xffb", limit: 10, want: "a\uFFFDb"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := status.Clip(tc.text, tc.limit)
			if got != tc.want || !utf8.ValidString(got) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// A registry, a tool or a webhook wrote escape sequences into a condition, and the terminal of everybody who read it obeyed.
func TestAttackAMessageControlsTheTerminal(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"a sequence that clears the screen": {"refused\x1b[2J\x1b]0;root\x07", "refused\uFFFD[2J\uFFFD]0;root\uFFFD"},
		"a sequence of one character":       {"refused\u009b2J", "refused\uFFFD2J"},
		"a line that is written again":      {"refused\rready", "refused\uFFFDready"},
		"a text that runs to the left":      {"a\u202eb\u2066c", "a\uFFFDb\uFFFDc"},
		"lines and columns":                 {"one\n\ttwo", "one\n\ttwo"},
		"any other language":                {"日本語 עברית é", "日本語 עברית é"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := status.Clip(tc.text, 100); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
