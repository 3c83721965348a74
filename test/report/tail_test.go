// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTail(t *testing.T) {
	t.Parallel()

	// numbered returns the lines from first to last, both included.
	numbered := func(first, last int) []string {
		var lines []string
		for i := first; i <= last; i++ {
			lines = append(lines, fmt.Sprintf("line %d", i))
		}
		return lines
	}
	joined := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

	cases := map[string]struct {
		output string
		want   []string
	}{
		"a test that prints nothing has no tail": {
			output: "=== RUN   TestA\n=== PAUSE TestA\n=== CONT  TestA\n--- FAIL: TestA (0.00s)\n",
		},
		"empty lines are kept only between others": {
			output: "\n=== RUN   TestA\n\none\n\ntwo\n\n    --- FAIL: TestA (0.00s)\n\n",
			want:   []string{"one", "", "two"},
		},
		"a long output is cut at its beginning": {
			output: joined(numbered(1, 100)...),
			want:   numbered(61, 100),
		},
		"a panic and its stack count more than the goroutines below": {
			output: joined("=== RUN   TestA", "line 0", "panic: timed out", joined(numbered(1, 100)...)),
			want:   append([]string{"panic: timed out"}, numbered(1, 39)...),
		},
		"a panic near the end is shown with what came before it": {
			output: joined("line 0", "panic: nil map", "line 1"),
			want:   []string{"line 0", "panic: nil map", "line 1"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tail(tc.output)); diff != "" {
				t.Errorf("tail (-want +got):\n%s", diff)
			}
		})
	}
}
