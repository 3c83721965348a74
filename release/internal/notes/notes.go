// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package notes makes a section of a changelog of the subjects of commits, which are "area: verb …" here.
package notes

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Write reads lines such as "1a2b3c4 nodepool: keep foreign taints", the newest first, and writes a section with a paragraph for each area.
// Whatever was done to the same area is together, the oldest first.
func Write(out io.Writer, log io.Reader, version string, created time.Time) error {
	areas := map[string][]string{}
	count := 0
	for lines := bufio.NewScanner(log); lines.Scan(); {
		hash, subject, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			return fmt.Errorf("the line %q is not a hash and a subject", lines.Text())
		}
		area, what, ok := strings.Cut(subject, ": ")
		if !ok || strings.Contains(strings.ReplaceAll(area, ", ", ","), " ") {
			area, what = "other", subject
		}
		areas[area] = append(areas[area], fmt.Sprintf("- %s (%s)\n", what, hash))
		count++
	}
	var text strings.Builder
	fmt.Fprintf(&text, "## %s, %s\n\n%d changes.\n", version, created.UTC().Format(time.DateOnly), count)
	for _, area := range slices.Sorted(maps.Keys(areas)) {
		fmt.Fprintf(&text, "\n### %s\n\n", area)
		for _, line := range slices.Backward(areas[area]) {
			text.WriteString(line)
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
