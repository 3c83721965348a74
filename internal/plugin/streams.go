// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Size returns the width and the height of the terminal that Out is; nil where Out is none. A terminal can be resized.
	Size func() (width, height int)
	// Interactive is true if In is a terminal, where somebody can be asked.
	Interactive bool
}

// What is assumed of a terminal that does not tell its size.
const defaultWidth, defaultHeight = 80, 24

// OSStreams returns the streams of the process.
func OSStreams() Streams {
	out := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Interactive: term.IsTerminal(int(os.Stdin.Fd()))}
	if terminal := int(os.Stdout.Fd()); term.IsTerminal(terminal) {
		out.Size = func() (width, height int) {
			if width, height, err := term.GetSize(terminal); err == nil && width > 0 && height > 0 {
				return width, height
			}
			return defaultWidth, defaultHeight
		}
	}
	return out
}

// terminal reports whether Out is a terminal.
func (s *Streams) terminal() bool { return s.Size != nil }
