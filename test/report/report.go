// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// slowFrom is how long a test takes before it is named, and slowMax is how many are.
	slowFrom = 5 * time.Second
	slowMax  = 10
)

// An event is one line of `go test -json`; see `go doc test2json`.
type event struct {
	Action      string  `json:"Action"`
	Package     string  `json:"Package"`
	Test        string  `json:"Test"`
	Elapsed     float64 `json:"Elapsed"` // seconds
	Output      string  `json:"Output"`
	ImportPath  string  `json:"ImportPath"`  // of build-output, which has no Package
	FailedBuild string  `json:"FailedBuild"` // of a package that did not compile: the ImportPath to blame
}

// A key names a test; without Test, its package.
type key struct{ Package, Test string }

// A test is one that is running, or has run and is still of interest.
type test struct {
	output      strings.Builder
	children    int
	childFailed bool
}

// A line of the closing lists.
type line struct {
	key

	text    []string
	elapsed time.Duration
}

// A report is what is known about the tests so far.
type report struct {
	out     io.Writer
	short   bool
	running map[key]*test
	perPkg  map[string]int    // tests that ran to their end
	builds  map[string]string // by import path, what the compiler wrote

	passed, failed, skipped int

	failures, skips, slow []line
}

func newReport(out io.Writer) *report {
	return &report{out: out, running: map[key]*test{}, perPkg: map[string]int{}, builds: map[string]string{}}
}

// read takes in events until there are none left. It prints a line that is not an event as it is: the go command writes such lines when
// it cannot start at all.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadString('\n')
		if text != "" {
			var e event
			if json.Unmarshal([]byte(text), &e) != nil || e.Action == "" {
				fmt.Fprint(r.out, text)
			} else {
				r.take(e)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("cannot read test events: %w", err)
		}
	}
}

// take takes in one event.
func (r *report) take(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
		r.builds[e.ImportPath] += e.Output
	case "start", "run":
		r.start(k)
	case "output":
		r.start(k).output.WriteString(e.Output)
	case "pass", "fail", "skip":
		elapsed := time.Duration(e.Elapsed * float64(time.Second))
		if e.Test == "" {
			r.endPackage(k, e, elapsed)
		} else {
			r.endTest(k, e.Action, elapsed)
		}
	}
}

// start returns the test of that name, new if need be.
func (r *report) start(k key) *test {
	if t, ok := r.running[k]; ok {
		return t
	}
	t := &test{}
	r.running[k] = t
	if p, ok := r.parent(k); ok {
		p.children++
	}
	return t
}

// parent returns the test whose subtest is called k.
func (r *report) parent(k key) (*test, bool) {
	i := strings.LastIndex(k.Test, "/")
	if i < 0 {
		return nil, false
	}
	t, ok := r.running[key{k.Package, k.Test[:i]}]
	if !ok { // the name itself has a slash
		return r.parent(key{k.Package, k.Test[:i]})
	}
	return t, true
}

// endTest counts a test. One with subtests is only their sum, unless it failed when none of them did.
func (r *report) endTest(k key, action string, elapsed time.Duration) {
	t := r.start(k)
	delete(r.running, k)
	if action == "fail" {
		r.fail(k, t, elapsed)
		return
	}
	if t.children > 0 {
		return
	}
	r.perPkg[k.Package]++
	if action == "skip" {
		r.skipped++
		r.skips = append(r.skips, line{key: k, text: []string{cmp.Or(said(t.output.String()), "no reason given")}})
		return
	}
	r.passed++
	if elapsed >= slowFrom {
		r.slow = append(r.slow, line{key: k, elapsed: elapsed})
	}
}

// fail prints a failed test in full and notes the end of its output for the summary. A test whose subtests failed is not
// counted, and is shown only if it has something of its own to add.
func (r *report) fail(k key, t *test, elapsed time.Duration) {
	text := tail(t.output.String())
	if p, ok := r.parent(k); ok {
		p.childFailed = true
	}
	if !t.childFailed {
		r.failed++
	}
	if t.childFailed && len(text) == 0 {
		return
	}
	fmt.Fprintf(r.out, "\n%s.%s\n%s\n", k.Package, k.Test, strings.TrimRight(t.output.String(), "\n"))
	r.failures = append(r.failures, line{key: k, text: text, elapsed: elapsed})
}

// endPackage prints the package's line. A package may fail without a test that did: it does not compile, its TestMain
// gives up, or the process dies and takes running tests with it.
func (r *report) endPackage(k key, e event, elapsed time.Duration) {
	t := r.start(k)
	delete(r.running, k)
	if e.Action == "fail" {
		r.endUnfinished(k, t, r.builds[e.FailedBuild])
		delete(r.builds, e.FailedBuild) // other packages can fail for the same reason: say it once
		fmt.Fprintf(r.out, "FAIL  %s  %s\n", k.Package, round(elapsed))
		return
	}
	if n := r.perPkg[k.Package]; n > 0 {
		fmt.Fprintf(r.out, "ok    %s  %s  %d run\n", k.Package, round(elapsed), n)
	}
}

// endUnfinished counts what a failed package left behind: tests without an end, or else the package itself, whose build
// may be the reason.
func (r *report) endUnfinished(k key, t *test, build string) {
	var left []key
	for other := range maps.Keys(r.running) {
		if other.Package == k.Package {
			left = append(left, other)
		}
	}
	slices.SortFunc(left, func(a, b key) int { return cmp.Compare(b.Test, a.Test) }) // children first
	for _, other := range left {
		r.endTest(other, "fail", 0)
	}
	known := slices.ContainsFunc(r.failures, func(f line) bool { return f.Package == k.Package })
	if !known {
		r.failed++
	}
	if !known || len(left) > 0 {
		fmt.Fprint(r.out, t.output.String())
		r.failures = append(r.failures, line{key: k, text: tail(build + t.output.String())})
	}
}

// summary prints the closing lists and, last of all, the counts. What failed comes right before them, with the end of its
// output.
func (r *report) summary() {
	slices.SortFunc(r.slow, func(a, b line) int { return cmp.Compare(b.elapsed, a.elapsed) })
	r.list("Slow", r.slow[:min(slowMax, len(r.slow))])
	if !r.short {
		r.list("Skipped", r.skips)
	}
	r.list("Failed", r.failures)
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
}

// list prints lines under a title, if there are any.
func (r *report) list(title string, lines []line) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(r.out, "\n%s:\n", title)
	for _, l := range lines {
		name := l.Package
		if l.Test != "" {
			name += "." + l.Test
		}
		if l.elapsed > 0 {
			name += "  " + round(l.elapsed)
		}
		fmt.Fprintf(r.out, "  %s\n", name)
		for _, text := range l.text {
			fmt.Fprintln(r.out, strings.TrimRight("      "+text, " "))
		}
	}
}

// said is the output of a test without the frame that `go test` puts around it.
func said(output string) string {
	var words []string
	for text := range strings.Lines(output) {
		text = strings.TrimSpace(text)
		if text != "" && !strings.HasPrefix(text, "=== ") && !strings.HasPrefix(text, "--- ") {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}

// round writes a duration as short as a reader needs it.
func round(d time.Duration) string {
	return d.Round(10 * time.Millisecond).String()
}
