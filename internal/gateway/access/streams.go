// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import "sync"

// maxStreams bounds the streams of all callers together.
const maxStreams = 5000

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

// Enter counts a stream; false if the caller, or all callers together, have too many. Leave has to follow.
func (s *Streams) Enter(c *Caller) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := c.Key()
	if s.open[key] >= s.perCaller || s.all >= maxStreams {
		return false
	}
	s.open[key]++
	s.all++
	return true
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
