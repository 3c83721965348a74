// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

// tailMax is how many lines of a failed test the summary repeats. CI systems keep only the end of a long log, and a list
// of names alone does not say what went wrong.
const tailMax = 40

// tail returns the last lines of a test's output, without the frame that `go test` puts around it. After a panic the
// lines that count are not the last ones but the message and the first stack below it, so it begins there.
func tail(output string) []string {
	var lines []string
	from := -1
	for text := range strings.Lines(output) {
		text = strings.TrimRight(text, " \t\r\n")
		if isFrame(text) {
			continue
		}
		if from < 0 && (strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ")) {
			from = len(lines)
		}
		if text != "" || len(lines) > 0 {
			lines = append(lines, text)
		}
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	start := max(0, len(lines)-tailMax)
	if from >= 0 {
		start = min(start, from)
	}
	return lines[start:min(len(lines), start+tailMax)]
}

// isFrame tells whether a line is from `go test` and not from the test. The words are spelled out because the diff that
// a test prints can begin lines with the same signs.
func isFrame(text string) bool {
	text = strings.TrimLeft(text, " ")
	for _, frame := range []string{
		"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "--- PASS: ", "--- FAIL: ", "--- SKIP: ",
	} {
		if strings.HasPrefix(text, frame) {
			return true
		}
	}
	return false
}
