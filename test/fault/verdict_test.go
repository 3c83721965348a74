// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestNothingComesBeforeAFinalizer(t *testing.T) {
	t.Parallel()
	sc := &scenario{guarded: "pools/red", guards: []string{"nodes/"}}
	finalizer, again := effect{Verb: "patch", Object: "pools/red", Nth: 1}, effect{Verb: "patch", Object: "pools/red", Nth: 2}
	node, event := effect{Verb: "patch", Object: "nodes/a", Nth: 1}, effect{Verb: "create", Object: "events/red", Nth: 1}
	cases := map[string]struct {
		refused bool
		struck  effect
		seen    []effect
		found   bool
	}{
		"a node is changed without it":                 {refused: true, struck: finalizer, seen: []effect{finalizer, event, node, again}, found: true},
		"it is written again first":                    {refused: true, struck: finalizer, seen: []effect{finalizer, event, again, node}},
		"it was written, and only the answer was lost": {struck: finalizer, seen: []effect{finalizer, node, again}},
		"another write failed":                         {refused: true, struck: node, seen: []effect{finalizer, node, again}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := checkGuard(sc, &fault{Effect: tc.struck, Variant: variant{refused: tc.refused}}, tc.seen)
			if (got != nil) != tc.found {
				t.Errorf("found is %v, want %t", got, tc.found)
			}
		})
	}
}
