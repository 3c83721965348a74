// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"sync"
	"time"

	"github.com/windlass-operator/windlass/internal/event"
)

// Recorder collects events.
type Recorder struct {
	mu     sync.Mutex
	events []event.Event
	// recorded is called for every event; it may be nil.
	recorded func()
}

// Record implements event.Recorder.
func (r *Recorder) Record(events ...event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, events...)
	if len(events) > 0 && r.recorded != nil {
		r.recorded()
	}
}

// Take returns the events since the last call.
func (r *Recorder) Take() []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

// Reasons returns the reasons of the events since the last call.
func (r *Recorder) Reasons() []string {
	reasons := []string{}
	for _, e := range r.Take() {
		reasons = append(reasons, e.Reason)
	}
	return reasons
}

// Clock is a time that moves only in steps.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at a fixed time.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Step moves the time forward.
func (c *Clock) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
