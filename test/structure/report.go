// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// report writes a line for each package that has calls between its files, the worst first, and a total.
func report(out io.Writer, measured []measurement, verbose bool) {
	measured = slices.Clone(measured)
	slices.SortStableFunc(measured, func(a, b measurement) int {
		return cmp.Or(cmp.Compare(len(b.up), len(a.up)), cmp.Compare(len(b.calls), len(a.calls)), cmp.Compare(a.path, b.path))
	})
	var total measurement
	_, _ = fmt.Fprintf(out, "| %-84s | %5s | %5s | %4s | %6s |\n", "package", "files", "calls", "up", "share")
	_, _ = fmt.Fprintf(out, "|%s|%s|%s|%s|%s|\n", strings.Repeat("-", 86), strings.Repeat("-", 7), strings.Repeat("-", 7),
		strings.Repeat("-", 6), strings.Repeat("-", 8))
	for _, one := range measured {
		if len(one.calls) == 0 {
			continue
		}
		line(out, one)
		total.files = append(total.files, one.files...)
		total.calls = append(total.calls, one.calls...)
		total.up = append(total.up, one.up...)
	}
	total.path = "all"
	line(out, total)
	if verbose {
		for _, one := range measured {
			details(out, one)
		}
	}
}

func line(out io.Writer, m measurement) {
	_, _ = fmt.Fprintf(out, "| %-84s | %5d | %5d | %4d | %5.1f%% |\n", m.path, len(m.files), len(m.calls), len(m.up), m.share())
}

// details writes the order of a package's files and the calls that run up in it.
func details(out io.Writer, m measurement) {
	if len(m.up) == 0 {
		return
	}
	_, _ = fmt.Fprintf(out, "\n%s: %s\n", m.path, strings.Join(m.files, " > "))
	for _, one := range m.up {
		_, _ = fmt.Fprintf(out, "  %s -> %s: %s uses %s\n", one.from, one.to, one.caller, one.callee)
	}
}
