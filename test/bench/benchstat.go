// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxResults bounds a file of results, in bytes.
const maxResults = 64 << 20

// readReport reads what an earlier run has written with -json.
func readReport(path string) (*report, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the results: %w", err)
	}
	defer func() { _ = file.Close() }()
	var r report
	if err := json.NewDecoder(io.LimitReader(file, maxResults)).Decode(&r); err != nil {
		return nil, fmt.Errorf("cannot read %q as results of a run: %w", path, err)
	}
	if len(r.Sections) == 0 {
		return nil, fmt.Errorf("%q has no results of a run: write them with -json", path)
	}
	return &r, nil
}

// writeBenchmarks writes every round as a result of a Go benchmark, the format that benchstat reads. What a scenario was run with comes
// first: benchstat compares only results that were measured with the same.
func (r *report) writeBenchmarks(out io.Writer) {
	o := &r.Options
	fmt.Fprintf(out, "nodes: %d\npodsets: %d\npods: %d\nvms: %d\n", o.Nodes, o.PodSets, o.Pods, o.Machines)
	for i := range r.Sections {
		for _, measured := range r.Sections[i].Series {
			for _, value := range measured.Values {
				fmt.Fprintf(out, "Benchmark%s/%s 1 %v %s\n",
					capital(word(r.Sections[i].Scenario)), word(measured.Name), value, word(measured.Unit))
			}
		}
	}
}

// word returns the text without white space, which would end it.
func word(text string) string { return strings.Join(strings.Fields(text), "-") }

// capital makes the first letter one: what follows "Benchmark" must not be small.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
