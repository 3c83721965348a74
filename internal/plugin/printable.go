// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable returns a text without what steers a terminal: it comes from tools and from objects that others have written.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if steers(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// steers reports whether a terminal does something else than to show the letter, or to go on in the next line or column.
func steers(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}

// oneLine puts a text into one line, which does not steer a terminal.
func oneLine(text string) string { return printable(strings.Join(strings.Fields(text), " ")) }

// folded makes a text printable and indents all of its lines but the first, so that none of them passes for a line of the plugin.
func folded(text, indent string) painted {
	return painted(strings.ReplaceAll(printable(strings.TrimRight(text, "\n")), "\n", "\n"+indent))
}

// say writes a text. Its arguments come from objects that others have written: they steer no terminal and begin no line, unless a style
// has painted them or they are folded.
func say(out io.Writer, text string, args ...any) {
	safe := make([]any, 0, len(args))
	for _, arg := range args {
		switch arg.(type) {
		case painted, int, int32, int64:
		default:
			arg = folded(fmt.Sprint(arg), "  ")
		}
		safe = append(safe, arg)
	}
	_, _ = fmt.Fprintf(out, text, safe...)
}

// printf writes to the output.
func (p *plugin) printf(text string, args ...any) { say(p.Streams.Out, text, args...) }

// note tells something besides the output.
func (p *plugin) note(text string, args ...any) { say(p.Streams.Err, "windlass: "+text+"\n", args...) }

// shown is a text that a command passes on: as it is to a file or another program, printable on a terminal.
func (p *plugin) shown(text string) string {
	if p.Streams.terminal() {
		return printable(text)
	}
	return text
}

// escaped escapes in JSON what steers a terminal: the encoder does that for some of it only.
func escaped(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if steers(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
