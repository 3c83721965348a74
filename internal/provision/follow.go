// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// followInterval is how often the log of a run that is followed is read.
const followInterval = time.Second

// Follow returns a reader of the log of a run that is under way, until the run ends, ctx ends or the reader is closed. It reads the end of
// the log again and again, as observe returns it. What is more than MaxLog within an interval is lost, and a line says so.
func Follow(ctx context.Context, first Run, tail int, observe func(ctx context.Context) (Run, error)) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	text := Redact(first.Log)
	return &follower{ctx: ctx, cancel: cancel, observe: observe, run: first, seen: text, rest: LastLines(text, tail)}
}

// follower reads the log of a run.
type follower struct {
	ctx     context.Context //nolint:containedctx // because an io.Reader has no other way to end with its call
	cancel  context.CancelFunc
	observe func(ctx context.Context) (Run, error)
	// run is as it was observed last, and seen is the end of its log then.
	run  Run
	seen string
	// rest is what has not been read yet.
	rest string
}

// Read implements io.Reader.
func (f *follower) Read(into []byte) (int, error) {
	for f.rest == "" {
		if err := f.ctx.Err(); err != nil {
			return 0, err
		}
		if f.run.Phase != Running {
			return 0, io.EOF
		}
		if err := f.look(); err != nil {
			return 0, err
		}
	}
	n := copy(into, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// look waits, and observes the run. Another run in its place means that it has ended.
func (f *follower) look() error {
	timer := time.NewTimer(followInterval)
	defer timer.Stop()
	select {
	case <-f.ctx.Done():
		return f.ctx.Err()
	case <-timer.C:
	}
	now, err := f.observe(f.ctx)
	if err != nil {
		return fmt.Errorf("cannot follow the run %q: %w", f.run.ID, err)
	}
	if now.ID != f.run.ID {
		f.run.Phase = Interrupted
		return nil
	}
	text := Redact(now.Log)
	f.rest, f.run, f.seen = added(f.seen, text), now, text
	return nil
}

// Close implements io.Closer.
func (f *follower) Close() error {
	f.cancel()
	return nil
}

// skipped is what a reader gets in the place of lines that were not seen.
const skipped = "[windlass: the tool printed more than could be followed; lines are missing here]\n"

// added returns what a log has got, given its end before and its end now.
func added(before, now string) string {
	if before == "" {
		return now
	}
	for at := 0; at < len(before); {
		if strings.HasPrefix(now, before[at:]) {
			return now[len(before)-at:]
		}
		end := strings.IndexByte(before[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	return skipped + now
}

// LastLines returns the last lines of a text, all if the number is negative.
func LastLines(text string, lines int) string {
	if lines < 0 {
		return text
	}
	at := len(strings.TrimSuffix(text, "\n"))
	for range lines {
		if at <= 0 {
			return text
		}
		at = strings.LastIndexByte(text[:at], '\n')
	}
	if lines == 0 {
		return ""
	}
	return text[at+1:]
}
