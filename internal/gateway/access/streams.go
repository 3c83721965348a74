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
func (s *Streams) Enter(c *Caller) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := c.Key()
	switch {
	case s.open[key] >= s.perCaller:
		return TooMany(streamRetry)
	case s.all >= maxStreams:
		return Busy("The callers of this server have all the streams that it can hold. Try again in a second.")
	}
	s.open[key]++
	s.all++
	return nil
}

// Leave forgets a stream.
func (s *Streams) Leave(c *Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := c.Key()
	s.all--
	if s.open[key]--; s.open[key] == 0 {
		delete(s.open, key)
	}
}
