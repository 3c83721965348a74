// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args      []string
		scenarios int
		err       string
	}{
		"nothing given plays all":        {scenarios: len((&options{}).all())},
		"a scenario":                     {args: []string{"-scenario", "nodepool/created"}, scenarios: 1},
		"a kind stands for its own":      {args: []string{"-scenario", "podbuggertool,nodepool/created"}, scenarios: 1 + len(podBuggerToolScenarios())},
		"a number of scenarios":          {args: []string{"-some", "5"}, scenarios: 5},
		"an unknown scenario is refused": {args: []string{"-scenario", "nodepool/creat"}, err: `cannot play scenario "nodepool/creat"`},
		"an unknown variant is refused":  {args: []string{"-variant", "cut,418"}, err: `cannot play variant "418"`},
		"a word without a dash":          {args: []string{"nodepool"}, err: `cannot read argument "nodepool"`},
		"no lanes":                       {args: []string{"-lanes", "0"}, err: "the numbers must be positive"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			opts, err := parse(tc.args, &out)
			if (err != nil) != (tc.err != "") || !strings.Contains(out.String(), tc.err) {
				t.Fatalf("error is %v with output %q, want %q in it", err, out.String(), tc.err)
			}
			if err == nil && len(opts.chosen()) != tc.scenarios {
				t.Errorf("it plays %d scenarios, want %d", len(opts.chosen()), tc.scenarios)
			}
		})
	}
}

func TestTheSeedDecidesOnTheSample(t *testing.T) {
	t.Parallel()
	all := make([]int, 1000)
	for i := range all {
		all[i] = i
	}
	first, again, other := sample(slices.Clone(all), 20, 1), sample(slices.Clone(all), 20, 1), sample(slices.Clone(all), 20, 2)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same seed chose others (-first +again):\n%s", diff)
	}
	if cmp.Equal(first, other) {
		t.Error("another seed chose the same")
	}
}

func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, sc := range scenarios() {
		if seen[sc.name] {
			t.Errorf("two scenarios are called %q", sc.name)
		}
		seen[sc.name] = true
	}
	for _, v := range variants() {
		if seen[v.name] {
			t.Errorf("two variants are called %q", v.name)
		}
		seen[v.name] = true
	}
}

func TestAFindingCanBeRepeated(t *testing.T) {
	t.Parallel()
	e := effect{Verb: "patch", Object: "nodes/a", Nth: 2, Number: 7, Path: "/api/v1/nodes/a"}
	var out bytes.Buffer
	found := finding{Class: "divergence", Detail: "- a\n+ b", Scenario: "nodepool/created", Effect: &e, Variant: "cut", Log: "it was cut\n"}
	found.writeTo(&out)
	want := `
nodepool/created: divergence after cut at write 7, patch nodes/a #2 (/api/v1/nodes/a)
  repeat: go run ./test/fault -scenario nodepool/created -effect "patch nodes/a #2" -variant cut
    - a
    + b
  the end of the manager's log:
    it was cut
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the report differs (-want +got):\n%s", diff)
	}
}
