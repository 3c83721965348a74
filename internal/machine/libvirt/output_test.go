// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import "testing"

func TestLastLines(t *testing.T) {
	t.Parallel()
	for text, wants := range map[string][]string{
		"":         {"", "", "", ""},
		"a":        {"", "a", "a", "a"},
		"a\n":      {"", "a\n", "a\n", "a\n"},
		"\n":       {"", "\n", "\n", "\n"},
		"a\nb\nc":  {"", "c", "b\nc", "a\nb\nc"},
		"a\n\nc\n": {"", "c\n", "\nc\n", "a\n\nc\n"},
	} {
		for lines, want := range wants {
			if got := string(lastLines([]byte(text), lines)); got != want {
				t.Errorf("the last %d lines of %q are %q, want %q", lines, text, got, want)
			}
		}
		if got := string(lastLines([]byte(text), -1)); got != text {
			t.Errorf("all lines of %q are %q", text, got)
		}
	}
}
