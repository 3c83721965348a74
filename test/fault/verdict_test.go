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

func TestWhatIsSlowIsToCome(t *testing.T) {
	t.Parallel()
	first, second, third := effect{Verb: "patch", Object: "pools/red", Nth: 1}, effect{Verb: "patch", Object: "pools/red", Nth: 2}, effect{Verb: "patch", Object: "pools/red", Nth: 3}
	event := effect{Verb: "create", Object: "events.k8s.io/red", Nth: 1}
	want := &outcome{Effects: []effect{first, second, event}}
	cases := map[string]struct {
		struck *fault
		seen   []effect
		late   effect
		ended  bool
		toCome bool
	}{
		"a write that was refused and comes again":          {struck: &fault{Effect: first, Variant: variant{slow: true, refused: true}}, seen: []effect{first}, late: second, toCome: true},
		"the write after it":                                {struck: &fault{Effect: first, Variant: variant{slow: true, refused: true}}, seen: []effect{first, second}, late: third, toCome: true},
		"one write more than without a fault":               {struck: &fault{Effect: first, Variant: variant{slow: true, refused: true}}, seen: []effect{first, second, third}, late: third},
		"one write more, where none was refused":            {struck: &fault{Effect: first, Variant: variant{slow: true}}, seen: []effect{first, second}, late: third},
		"a write that failed":                               {struck: &fault{Effect: first, Variant: variant{refused: true}}, seen: []effect{first}, late: second},
		"an event that the run without a fault has as well": {struck: &fault{Effect: first, Variant: variant{refused: true}}, seen: []effect{first}, late: event, toCome: true},
		"a write without a fault":                           {seen: []effect{first}, late: second},
		"a write of a manager that began again":             {seen: []effect{first}, late: second, ended: true, toCome: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &play{scenario: &scenario{ended: tc.ended}, want: want, stage: &stage{effects: &injector{fault: tc.struck}}}
			if got := p.isToCome(tc.late, tc.seen); got != tc.toCome {
				t.Errorf("it is to come: %t, want %t", got, tc.toCome)
			}
		})
	}
}
