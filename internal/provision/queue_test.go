// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/provision"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	type step struct {
		join, leave string
		free        int
		after       time.Duration
		want        []string
	}
	tests := map[string][]step{
		"nobody waits":                          {{free: 3}},
		"no slot is free":                       {{join: "a"}, {free: 0}, {free: -1}},
		"the first to come is called first":     {{join: "a"}, {join: "b"}, {join: "c"}, {free: 2, want: []string{"a", "b"}}},
		"each is called once":                   {{join: "a"}, {free: 1, want: []string{"a"}}, {free: 1}},
		"a slot is offered to one at a time":    {{join: "a"}, {join: "b"}, {free: 1, want: []string{"a"}}, {free: 1, after: 10 * time.Second}},
		"one that starts makes way":             {{join: "a"}, {join: "b"}, {free: 1, want: []string{"a"}}, {leave: "a"}, {free: 1, want: []string{"b"}}},
		"one that does not come loses a place":  {{join: "a"}, {join: "b"}, {free: 1, want: []string{"a"}}, {free: 1, after: 11 * time.Second, want: []string{"b"}}},
		"one that came too late keeps a place":  {{join: "a"}, {join: "b"}, {free: 1, want: []string{"a"}}, {join: "a"}, {free: 1, want: []string{"a"}}},
		"one that waits longer is not dropped":  {{join: "a"}, {free: 0, after: time.Hour}, {free: 1, want: []string{"a"}}},
		"one that joins twice waits once":       {{join: "a"}, {join: "a"}, {free: 2, want: []string{"a"}}},
		"one that never came can leave as well": {{leave: "a"}, {free: 1}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var queue provision.Queue
			now := start
			for i, s := range steps {
				now = now.Add(s.after)
				switch {
				case s.join != "":
					queue.Join(s.join)
				case s.leave != "":
					queue.Leave(s.leave)
				default:
					if diff := cmp.Diff(s.want, queue.Call(s.free, now)); diff != "" {
						t.Errorf("step %d (-want +got):\n%s", i, diff)
					}
				}
			}
		})
	}
}
