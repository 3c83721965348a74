// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package progress shows on a terminal what devcluster does and since when, and writes the same to a log as plain lines.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Reporter writes progress. A nil Reporter is silent. It is safe for concurrent use.
type Reporter struct {
	mu      sync.Mutex
	out     io.Writer
	live    bool
	begin   time.Time
	current string
	stop    chan struct{}
	stopped chan struct{}
}

// New reports to out: with one line that is redrawn if out is a terminal, or else with one line per step.
func New(out io.Writer) *Reporter {
	r := &Reporter{out: out, begin: time.Now(), stop: make(chan struct{}), stopped: make(chan struct{})}
	file, ok := out.(*os.File)
	r.live = ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
	if !r.live {
		close(r.stopped)
		return r
	}
	go r.animate()
	return r
}

// Doing reports the activity that begins now.
func (r *Reporter) Doing(format string, args ...any) {
	r.set(fmt.Sprintf(format, args...), !r.isLive())
}

// Counting is Doing for numbers that change many times a second: a terminal shows them, a log does not.
func (r *Reporter) Counting(format string, args ...any) {
	if r.isLive() {
		r.set(fmt.Sprintf(format, args...), false)
	}
}

// Done reports a result.
func (r *Reporter) Done(format string, args ...any) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = ""
	r.line("%s", fmt.Sprintf(format, args...))
}

// Close removes the redrawn line from the terminal. The Reporter must not be used afterwards.
func (r *Reporter) Close() {
	if r == nil {
		return
	}
	close(r.stop)
	<-r.stopped
}

// isLive reports whether there is a line to redraw. A nil Reporter has none.
func (r *Reporter) isLive() bool { return r != nil && r.live }

// set changes the text of the redrawn line. If it stays, it is also printed as a line of its own.
func (r *Reporter) set(text string, stays bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = text
	if stays {
		r.line("%s", text)
	}
}

// line prints a line that stays. The caller holds the lock.
func (r *Reporter) line(format string, args ...any) {
	if r.live {
		fmt.Fprint(r.out, clearLine)
	}
	fmt.Fprintf(r.out, "%6.1fs  %s\n", time.Since(r.begin).Seconds(), fmt.Sprintf(format, args...))
}

const clearLine = "\r\033[K"

// animate redraws the line even if the text does not change: the running clock shows that devcluster does not hang.
func (r *Reporter) animate() {
	defer close(r.stopped)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			fmt.Fprint(r.out, clearLine)
			return
		case <-tick.C:
		}
		r.mu.Lock()
		if r.current != "" {
			fmt.Fprintf(r.out, "%s%6.1fs  %s…", clearLine, time.Since(r.begin).Seconds(), r.current)
		}
		r.mu.Unlock()
	}
}
