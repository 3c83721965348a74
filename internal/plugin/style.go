// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"strings"
)

// mood is what a text tells, which decides its symbol and colour.
type mood int

// Moods, the worst last.
const (
	moodNone mood = iota
	moodGood
	moodUnknown
	moodBusy
	moodBad
)

// painted is a text for the terminal: what it quotes is printable, so that nothing but its own colours and symbols steers.
type painted string

// style is how texts look: plain in a pipe, with colours and symbols on a terminal.
type style struct{ colours, symbols bool }

// style returns how texts on standard output look.
func (p *plugin) style() style {
	terminal := p.Streams.terminal() && p.Getenv("TERM") != "dumb"
	locale := p.getenv("LC_ALL", p.getenv("LC_CTYPE", p.Getenv("LANG")))
	unicode := strings.Contains(strings.ReplaceAll(strings.ToLower(locale), "-", ""), "utf8")
	return style{colours: terminal && p.Getenv("NO_COLOR") == "", symbols: terminal && unicode}
}

// The colours of a terminal.
const (
	colourOff    = "\x1b[0m"
	colourRed    = "\x1b[31m"
	colourGreen  = "\x1b[32m"
	colourYellow = "\x1b[33m"
	colourDim    = "\x1b[2m"
	colourBold   = "\x1b[1m"
)

// paint gives a text the colour of a mood.
func (s style) paint(how mood, text string) painted {
	switch how {
	case moodGood:
		return s.with(colourGreen, text)
	case moodBusy:
		return s.with(colourYellow, text)
	case moodBad:
		return s.with(colourRed, text)
	case moodUnknown:
		return s.dim(text)
	default:
		return folded(text, "  ")
	}
}

func (s style) dim(text string) painted  { return s.with(colourDim, text) }
func (s style) bold(text string) painted { return s.with(colourBold, text) }

func (s style) with(colour, text string) painted {
	text = string(folded(text, "  "))
	if !s.colours || text == "" {
		return painted(text)
	}
	return painted(colour + text + colourOff)
}

// mark is the symbol of a mood in its colour. All have the same width.
func (s style) mark(how mood) painted {
	plain, symbol := " ", " "
	switch how {
	case moodGood:
		plain, symbol = "+", "✔"
	case moodBusy:
		plain, symbol = "~", "◐"
	case moodBad:
		plain, symbol = "x", "✘"
	case moodUnknown:
		plain, symbol = "?", "○"
	default:
	}
	if s.symbols {
		return s.paint(how, symbol)
	}
	return s.paint(how, plain)
}

// getenv reads the environment, or a default for what it does not have.
func (p *plugin) getenv(key, otherwise string) string { return cmp.Or(p.Getenv(key), otherwise) }
