// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// widthOf is how many columns of a terminal a text takes.
func widthOf(text string) int {
	sum := 0
	for _, r := range text {
		sum += widthOfRune(r)
	}
	return sum
}

// widthOfRune is 2 for the letters of East Asia and emoji, and 0 for accents that stand on the letter before.
func widthOfRune(r rune) int {
	if r < unicode.MaxLatin1 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// cut shortens a text to a number of columns.
func cut(text string, columns int) string {
	if widthOf(text) <= columns {
		return text
	}
	const more = "…"
	room := columns - widthOf(more)
	for at, r := range text {
		if room -= widthOfRune(r); room < 0 {
			return strings.TrimRight(text[:at], " ") + more
		}
	}
	return text
}
