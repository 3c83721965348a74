// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheSampleHasEachVariantOfEachScenario(t *testing.T) {
	t.Parallel()
	all := func() []attempt {
		var out []attempt
		for _, r := range []*row{{Scenario: "pod/large"}, {Scenario: "pod/small"}} {
			writes := map[string]int{"pod/large": 50, "pod/small": 2}[r.Scenario]
			for n := range writes {
				for _, v := range variants() {
					out = append(out, attempt{row: r, fault: &fault{effect{Nth: n}, v}})
				}
			}
		}
		return out
	}
	drawn := func(size int, seed uint64) (names []string) {
		for _, a := range spread(all(), size, seed) {
			names = append(names, fmt.Sprintln(a.row.Scenario, a.way(), a.fault.Effect.Nth))
		}
		return names
	}
	seen := map[string]bool{}
	for _, a := range spread(all(), 2*len(variants()), 1) {
		seen[a.row.Scenario+" "+a.way()] = true
	}
	if len(seen) != 2*len(variants()) {
		t.Errorf("%d attempts have %d variants of scenarios", 2*len(variants()), len(seen))
	}
	if diff := cmp.Diff(drawn(40, 1), drawn(40, 1)); diff != "" {
		t.Errorf("the same seed chose others (-first +again):\n%s", diff)
	}
	if cmp.Equal(drawn(40, 1), drawn(40, 2)) {
		t.Error("another seed chose the same")
	}
	if got := len(spread(all(), 0, 1)); got != 52*len(variants()) {
		t.Errorf("without a size it has %d attempts, want all", got)
	}
}
