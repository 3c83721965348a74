// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"sync"
	"time"
)

const (
	// maxStreams bounds the streams of all callers together.
	maxStreams = 5000
	// streamRetry is when a caller with too many streams may try again.
	streamRetry = time.Second
)

// Streams counts the open streams of each caller.
type Streams struct {
	mu        sync.Mutex
	perCaller int
	open      map[string]int
	all       int
}

// NewStreams returns a counter that lets each caller open that many streams at a time.
func NewStreams(perCaller int) *Streams {
	return &Streams{perCaller: perCaller, open: map[string]int{}}
}

// Enter counts a stream. The problem is that the caller has too many, or that all callers together have. Leave has to follow, unless there is one.
func (s *Streams) Enter(c *Caller) error { return s.EnterAs(c, 1) }

// EnterAs counts a stream that is worth as much as several, but no more than a caller may have. LeaveAs has to follow with the same number, unless there
// is a problem.
func (s *Streams) EnterAs(c *Caller, several int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, worth := c.Key(), min(several, s.perCaller)
	switch {
	case s.open[key]+worth > s.perCaller:
		return TooMany(streamRetry)
	case s.all+worth > maxStreams:
		return Busy("The callers of this server have all the streams that it can hold. Try again in a second.")
	}
	s.open[key] += worth
	s.all += worth
	return nil
}

// Leave forgets a stream.
func (s *Streams) Leave(c *Caller) { s.LeaveAs(c, 1) }

// LeaveAs forgets a stream that is worth as much as several.
func (s *Streams) LeaveAs(c *Caller, several int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, worth := c.Key(), min(several, s.perCaller)
	s.all -= worth
	if s.open[key] -= worth; s.open[key] == 0 {
		delete(s.open, key)
	}
}
