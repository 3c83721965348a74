// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/test/rig"
)

func TestParse(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		err  string
	}{
		"nothing given":          {},
		"some scenarios":         {args: []string{"-scenario", "steady,memory", "-nodes", "50"}},
		"sizes":                  {args: []string{"-scenario", "growth-nodes", "-sizes", "1000,5000"}},
		"sizes that do not grow": {args: []string{"-sizes", "5000,1000"}, err: `cannot read "5000,1000": give ascending numbers`},
		"an unknown scenario":    {args: []string{"-scenario", "speed"}, err: `cannot run scenario "speed": there are nodepool-apply,`},
		"an unknown flag":        {args: []string{"-node", "1"}, err: "flag provided but not defined: -node"},
		"a word without a dash":  {args: []string{"steady"}, err: `cannot read argument "steady": everything is a flag`},
		"no rounds":              {args: []string{"-rounds", "0"}, err: "cannot run with -rounds=0: it has to be positive"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			opts, err := parse(tc.args, &out)
			if tc.err == "" {
				if err != nil || len(opts.Scenarios) == 0 {
					t.Errorf("got %+v, %v", opts, err)
				}
				return
			}
			if err == nil || !strings.Contains(out.String(), tc.err) {
				t.Errorf("error is %v with output %q, want %q in it", err, out.String(), tc.err)
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	s := section{Scenario: "steady", Title: "nothing happens"}
	cpu := s.measure("CPU", "ms")
	for round, value := range []float64{90, 1, 2, 3} {
		cpu.add(round, value)
	}
	s.Ratios = append(s.Ratios, compare("CPU to itself", cpu, cpu, 1.2))
	s.Checks = append(s.Checks, check{Name: "writes", Got: []int{0, 0}}, check{Name: "patches", Want: 2, Got: []int{2, 3}})
	r := &report{Sections: []section{s}}
	var out bytes.Buffer
	r.writeText(&out)
	for _, want := range []string{
		"steady: nothing happens", "2.00  1.00  3.00  ms", "CPU to itself: 1.00 [", "aim 1.20 or less",
		"writes: [0 0], want 0: ok", "patches: [2 3], want 2: WRONG",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not contain %q:\n%s", want, out.String())
		}
	}
	if failed := r.failed(); len(failed) != 1 || failed[0].Name != "patches" {
		t.Errorf("failed counts are %v, want the patches alone", failed)
	}
}

// What is written as JSON comes back as results of Go benchmarks, a line for each round that counts.
func TestResultsAsBenchmarks(t *testing.T) {
	t.Parallel()
	s := section{Scenario: "nodepool-apply"}
	took := s.measure("until all nodes follow", "CPU ms")
	for round, value := range []float64{90, 1.5, 2} {
		took.add(round, value)
	}
	file := filepath.Join(t.TempDir(), "folder", "results.json")
	if err := rig.WriteResults(file, &report{Options: options{Nodes: 7, PodSets: 6, Pods: 5, Machines: 4}, Sections: []section{s}}); err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	const want = "nodes: 7\npodsets: 6\npods: 5\nvms: 4\n" +
		"BenchmarkNodepool-apply/until-all-nodes-follow 1 1.5 CPU-ms\nBenchmarkNodepool-apply/until-all-nodes-follow 1 2 CPU-ms\n"
	if code := run(t.Context(), []string{"-benchfmt", file}, &out, &problems); code != 0 || out.String() != want {
		t.Errorf("exit code %d, %s, and\n%swant\n%s", code, problems.String(), out.String(), want)
	}
	for content, said := range map[string]string{"{}": "has no results of a run", "no": "cannot read", "": "cannot read"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		problems.Reset()
		if code := run(t.Context(), []string{"-benchfmt", file}, &out, &problems); code != exitFailure || !strings.Contains(problems.String(), said) {
			t.Errorf("%q: exit code %d, %s", content, code, problems.String())
		}
	}
}
