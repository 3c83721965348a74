// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"sync"
)

// ErrNoRoom is the error of bytes for which there is no room, because other requests hold what there is.
var ErrNoRoom = errors.New("there is no room at present: other requests hold too much")

// Budget bounds how many bytes are held at the same time: for the requests of one caller, and for those of all together.
type Budget struct {
	each, all int

	mu   sync.Mutex
	held map[string]int
	sum  int
}

// NewBudget returns a budget of so many bytes for each caller, and for all of them.
func NewBudget(each, all int) *Budget {
	return &Budget{each: each, all: all, held: map[string]int{}}
}

// Each returns how many bytes there are for one caller.
func (b *Budget) Each() int { return b.each }

// Share returns what is held for a request of the caller, which is nothing yet. Release has to follow.
func (b *Budget) Share(c *Caller) *Share { return &Share{budget: b, key: c.Key()} }

// Share is what is held for one request. A nil Share holds whatever there is.
type Share struct {
	budget *Budget
	key    string
	bytes  int
}

// Take adds to what is held, or with a negative number gives some of it back. Too much for one request is ErrTooLong, and too much
// beside other requests ErrNoRoom.
func (s *Share) Take(bytes int) error {
	if s == nil {
		return nil
	}
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case bytes > 0 && s.bytes+bytes > b.each:
		return ErrTooLong
	case bytes > 0 && (b.held[s.key]+bytes > b.each || b.sum+bytes > b.all):
		return ErrNoRoom
	}
	s.bytes += bytes
	b.sum += bytes
	if b.held[s.key] += bytes; b.held[s.key] == 0 {
		delete(b.held, s.key)
	}
	return nil
}

// Release gives everything back.
func (s *Share) Release() {
	_ = s.Take(-s.bytes) // which is never too much
}
