// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package progress tells a person at a terminal what is going on and since when, and a log file the same in plain lines.
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

// New reports to out: with one line that keeps moving where out is a terminal, with a line per step elsewhere.
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

// Doing says what is being waited for from now on.
func (r *Reporter) Doing(format string, args ...any) {
	r.set(fmt.Sprintf(format, args...), !r.isLive())
}

// Counting is Doing for numbers that change many times a second: they move on a terminal and are left out of a log.
func (r *Reporter) Counting(format string, args ...any) {
	if r.isLive() {
		r.set(fmt.Sprintf(format, args...), false)
	}
}

// Done says what has been reached.
func (r *Reporter) Done(format string, args ...any) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = ""
	r.line("%s", fmt.Sprintf(format, args...))
}

// Close takes the moving line off the terminal. The Reporter must not be used afterwards.
func (r *Reporter) Close() {
	if r == nil {
		return
	}
	close(r.stop)
	<-r.stopped
}

// isLive is where a nil Reporter ends, for the callers that decide by it.
func (r *Reporter) isLive() bool { return r != nil && r.live }

// set changes the moving line, which the next frame draws; what stays is printed as a line of its own too.
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

// animate redraws even when nothing changes: the clock that goes on is the sign that nothing hangs.
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
