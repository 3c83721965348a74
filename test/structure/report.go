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

// report writes a line for each package that has uses between its files, the worst first, and a total.
func report(out io.Writer, measured []measurement, verbose bool) {
	measured = slices.Clone(measured)
	slices.SortStableFunc(measured, func(a, b measurement) int {
		return cmp.Or(cmp.Compare(len(b.calls.up), len(a.calls.up)), cmp.Compare(len(b.uses.up), len(a.uses.up)),
			cmp.Compare(a.path, b.path))
	})
	_, _ = fmt.Fprintln(out, "| package | files | calls | up | share | uses | up | share |")
	_, _ = fmt.Fprintln(out, "|---|---:|---:|---:|---:|---:|---:|---:|")
	total := measurement{path: "all"}
	for _, one := range measured {
		total.calls, total.uses = together(total.calls, one.calls), together(total.uses, one.uses)
		if len(one.uses.calls) > 0 {
			line(out, one)
		}
	}
	line(out, total)
	if verbose {
		for _, one := range measured {
			details(out, one)
		}
	}
}

// together returns the arrangements of two packages as one.
func together(a, b arrangement) arrangement {
	return arrangement{
		files: slices.Concat(a.files, b.files),
		calls: slices.Concat(a.calls, b.calls),
		up:    slices.Concat(a.up, b.up),
	}
}

func line(out io.Writer, m measurement) {
	path := m.path
	if _, inside, ok := strings.Cut(path, "/windlass/"); ok {
		path = inside
	}
	_, _ = fmt.Fprintf(out, "| %s | %d | %d | %d | %.1f %% | %d | %d | %.1f %% |\n", path, len(m.calls.files),
		len(m.calls.calls), len(m.calls.up), m.calls.share(), len(m.uses.calls), len(m.uses.up), m.uses.share())
}

// details writes the order of a package's files and the calls that run up in it.
func details(out io.Writer, m measurement) {
	if len(m.calls.up) == 0 {
		return
	}
	_, _ = fmt.Fprintf(out, "\n%s: %s\n", m.path, strings.Join(m.calls.files, " > "))
	for _, one := range m.calls.up {
		_, _ = fmt.Fprintf(out, "  %s -> %s: %s uses %s\n", one.from, one.to, one.caller, one.callee)
	}
}
