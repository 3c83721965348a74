// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
)

// describe replaces every description in a schema, also of properties that are called "description" only where they are text.
func describe(node any, replace func(string) string) {
	switch node := node.(type) {
	case map[string]any:
		for key, child := range node {
			if text, ok := child.(string); ok && key == "description" {
				node[key] = replace(text)
				continue
			}
			describe(child, replace)
		}
	case []any:
		for _, child := range node {
			describe(child, replace)
		}
	}
}

// own begins a line that stays one: an entry of a list, an indented line, or a fence.
var own = regexp.MustCompile("^(\\s|[-*+] |[-*] ?[\"`]|\\d+[.)] |```|$)")

// joined returns the text with one line for each paragraph and each entry of a list.
func joined(text string) string {
	lines := strings.Split(text, "\n")
	out := lines[:1]
	fenced := false
	for _, line := range lines[1:] {
		last := &out[len(out)-1]
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			out = append(out, line)
		case fenced, own.MatchString(line), *last == "", strings.HasPrefix(*last, "```"):
			out = append(out, line)
		default:
			*last = strings.TrimRight(*last, " ") + " " + line
		}
	}
	return strings.Join(out, "\n")
}
