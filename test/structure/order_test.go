// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// calling returns a number of calls from one file to another, by different functions.
func calling(from, to string, times int) []call {
	var calls []call
	for i := range times {
		calls = append(calls, call{from: from, to: to, caller: fmt.Sprint(from, i), callee: to})
	}
	return calls
}

func TestArrange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files []string
		calls [][]call
		order []string
		up    []call
	}{
		"callers stand above what they call": {
			files: []string{"a.go", "b.go", "c.go"},
			calls: [][]call{calling("c.go", "b.go", 1), calling("b.go", "a.go", 1)},
			order: []string{"c.go", "b.go", "a.go"},
		},
		"the entrances come first": {
			files: []string{"act.go", "controller.go", "doc.go"},
			calls: [][]call{calling("controller.go", "act.go", 1)},
			order: []string{"doc.go", "controller.go", "act.go"},
		},
		"a call into an entrance runs up, however many run down": {
			files: []string{"act.go", "controller.go"},
			calls: [][]call{calling("act.go", "controller.go", 2), calling("controller.go", "act.go", 1)},
			order: []string{"controller.go", "act.go"},
			up:    calling("act.go", "controller.go", 2),
		},
		"in a cycle of two the rarer calls run up": {
			files: []string{"a.go", "b.go"},
			calls: [][]call{calling("a.go", "b.go", 1), calling("b.go", "a.go", 3)},
			order: []string{"b.go", "a.go"},
			up:    calling("a.go", "b.go", 1),
		},
		"in a cycle of three one call runs up": {
			files: []string{"a.go", "b.go", "c.go"},
			calls: [][]call{calling("a.go", "b.go", 2), calling("b.go", "c.go", 2), calling("c.go", "a.go", 1)},
			order: []string{"a.go", "b.go", "c.go"},
			up:    calling("c.go", "a.go", 1),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []call
			for _, some := range test.calls {
				calls = append(calls, some...)
			}
			got := arrange(test.files, calls)
			want := arrangement{files: test.order, calls: calls, up: test.up}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(arrangement{}, call{})); diff != "" {
				t.Errorf("arrangement (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLargeCyclesAreImproved compares the two ways to order a cycle: they agree where improving finds the optimum.
func TestLargeCyclesAreImproved(t *testing.T) {
	t.Parallel()
	const files = 12
	g := make(graph, files)
	cycle := make([]int, files)
	for i := range g {
		g[i], cycle[files-1-i] = make([]int, files), i
		g[i][(i+1)%files] = 2
		for j := range i {
			g[j][i]++
		}
	}
	if diff := cmp.Diff(g.best(cycle), g.improve(cycle)); diff != "" {
		t.Errorf("order (-best +improved):\n%s", diff)
	}
}
