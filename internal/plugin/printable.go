// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"strings"
	"unicode"
)

// printable returns a text without what steers a terminal: it comes from tools and from objects that others have written.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// note tells something besides the output.
func (p *plugin) note(text string, args ...any) {
	_, _ = fmt.Fprintf(p.Streams.Err, "windlass: "+text+"\n", args...)
}
