// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"fmt"
	"regexp"
	"strings"
)

// Match compares an output with what a page shows, and returns what differs, empty if nothing does. Spaces between columns, the
// order of lines, ages and the random parts of names do not count. A line that is … or ... stands for any lines, and … inside a
// line for any text.
func Match(shown, output string) (difference string) {
	rest := lines(output)
	elided := false
	var missing []string
	for _, want := range lines(shown) {
		if want == "…" || want == "..." {
			elided = true
			continue
		}
		at, pattern := -1, pattern(want)
		for i, have := range rest {
			if pattern.MatchString(have) {
				at = i
				break
			}
		}
		if at < 0 {
			missing = append(missing, want)
			continue
		}
		rest = append(rest[:at], rest[at+1:]...)
	}
	if len(missing) > 0 {
		difference = fmt.Sprintf("these lines are missing:\n%s\n", strings.Join(missing, "\n"))
	}
	if len(rest) > 0 && !elided {
		difference += fmt.Sprintf("the page does not show these lines:\n%s\n", strings.Join(rest, "\n"))
	}
	return difference
}

// lines returns the lines that are not empty.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// What is different every time.
var (
	age       = regexp.MustCompile(`^(\d+(\.\d+)?(ms|[smhdy]))+$`)
	podSuffix = regexp.MustCompile(`-[a-z0-9]{8,10}-[a-z0-9]{5}\b`)
	hash      = regexp.MustCompile(`-[0-9a-f]{8}\b`)
	port      = regexp.MustCompile(`127\\\.0\\\.0\\\.1:\d+`)
)

// pattern returns what matches a shown line.
func pattern(shown string) *regexp.Regexp {
	words := strings.Fields(shown)
	for i, word := range words {
		if age.MatchString(word) {
			words[i] = `\S+`
			continue
		}
		word = regexp.QuoteMeta(word)
		word = podSuffix.ReplaceAllString(word, `-[a-z0-9]{8,10}-[a-z0-9]{5}`)
		word = hash.ReplaceAllString(word, `-[0-9a-f]{8}`)
		word = port.ReplaceAllString(word, `127\.0\.0\.1:\d+`)
		words[i] = strings.ReplaceAll(word, "…", ".*")
	}
	return regexp.MustCompile("^" + strings.Join(words, `\s+`) + "$")
}
