// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"unicode"
)

// ellipsis ends a text that was cut.
const ellipsis = "..."

// Clip returns text as valid UTF-8 of at most limit bytes. It cuts between characters and shows the cut by three dots, for which the
// limit has to leave room. Characters that control a terminal or the direction of writing are replaced: images, tools and webhooks choose
// parts of what is told, and people read it in terminals.
func Clip(text string, limit int) string {
	text = strings.Map(visible, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit-len(ellipsis), 0)], "") + ellipsis
}

// visible returns the character, or what stands for one that would not be seen but act. Lines and columns may be.
func visible(r rune) rune {
	if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Bidi_Control) {
		return unicode.ReplacementChar
	}
	return r
}
