// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// What a terminal does at these sequences.
const (
	clearAll   = "\x1b[2J"
	toCorner   = "\x1b[H"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
)

// screen shows a text again and again: in place on a terminal, and in a pipe only the lines that are new.
type screen struct {
	streams *Streams
	// text is what was shown last, and lost why it is not renewed; empty while it is.
	text, lost string
	// lines are what is on the terminal, or what the pipe was told.
	lines []string
}

// began reports whether something was shown.
func (s *screen) began() bool { return s.lines != nil }

// show shows the text, unless nothing has changed.
func (s *screen) show(text string) {
	if s.lost != "" && !s.streams.terminal() {
		_, _ = fmt.Fprintln(s.streams.Err, "windlass: it answers again")
	}
	s.text, s.lost = text, ""
	s.draw()
}

// lose says why the text cannot be renewed, and leaves it as it is.
func (s *screen) lose(because string) {
	if s.lost == "" && !s.streams.terminal() {
		say(s.streams.Err, "windlass: %s (trying again)\n", because)
	}
	s.lost = oneLine(because)
	s.draw()
}

// leave gives the terminal back.
func (s *screen) leave() {
	if s.streams.terminal() && s.began() {
		_, _ = fmt.Fprint(s.streams.Out, showCursor)
	}
}

func (s *screen) draw() {
	lines := strings.Split(strings.TrimRight(s.text, "\n"), "\n")
	if !s.streams.terminal() && s.text == "" {
		return // the pipe is told in another way
	}
	if !s.streams.terminal() {
		for _, line := range lines {
			if !slices.Contains(s.lines, line) {
				_, _ = fmt.Fprintln(s.streams.Out, line)
			}
		}
		s.lines = lines
		return
	}
	width, height := s.streams.Size()
	if s.lost != "" {
		// The cause has a line of its own: of the address of an API server and the cause after it, a line of 80 letters shows both.
		lines = append([]string{s.lost, "Trying again. This is how it stood:", ""}, lines...)
	}
	lines = fit(lines, width, height)
	if slices.Equal(lines, s.lines) {
		return
	}
	var out strings.Builder
	if !s.began() {
		out.WriteString(hideCursor + clearAll) // the screen is cleared once; afterwards lines are overwritten, which does not flicker
	}
	out.WriteString(toCorner)
	for _, line := range lines {
		out.WriteString(line + clearLine + "\r\n")
	}
	out.WriteString(clearBelow)
	_, _ = fmt.Fprint(s.streams.Out, out.String())
	s.lines = lines
}

// fit cuts lines to what a terminal can show without wrapping or scrolling, which would spoil what is drawn over them.
func fit(lines []string, width, height int) []string {
	room := max(1, height-1) // the cursor stands in the line below the last one
	if len(lines) > room {
		hidden := len(lines) - room + 1
		lines = append(slices.Clone(lines[:room-1]), fmt.Sprintf("… and %d more lines", hidden))
	}
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		out = append(out, cutColoured(line, width))
	}
	return out
}

// cutColoured is cut for a text with colours, which take no room.
func cutColoured(line string, width int) string {
	bare, colour := 0, false
	for at := 0; at < len(line); {
		if strings.HasPrefix(line[at:], "\x1b[") {
			if end := strings.IndexByte(line[at:], 'm'); end > 0 {
				colour = line[at:at+end+1] != colourOff
				at += end + 1
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(line[at:])
		if next := bare + widthOfRune(r); next >= width && bare+widthOf(uncoloured(line[at:])) > width {
			if colour {
				return line[:at] + "…" + colourOff
			}
			return line[:at] + "…"
		}
		bare += widthOfRune(r)
		at += size
	}
	return line
}

// uncoloured is a text without its colours.
func uncoloured(text string) string {
	for _, colour := range []string{colourOff, colourRed, colourGreen, colourYellow, colourDim, colourBold} {
		text = strings.ReplaceAll(text, colour, "")
	}
	return text
}
