// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command report turns the output of `go test -json`, of one module or of several in a row, into what a person wants to
// read: failures in full when they happen, a line for each package, and at the end the slow tests, the skipped ones with
// their reasons, the failed ones with the end of their output, and the counts. It fails if a test did.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	short := flag.Bool("short", false, "do not list skipped tests: go test -short skips on purpose")
	flag.Parse()

	ok, err := run(os.Stdin, os.Stdout, *short)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run reads events from in and writes the report to out, without the list of skipped tests if short; it says whether
// everything passed.
func run(in io.Reader, out io.Writer, short bool) (bool, error) {
	r := newReport(out)
	r.short = short
	if err := r.read(in); err != nil {
		return false, err
	}
	r.summary()
	return r.failed == 0, nil
}
