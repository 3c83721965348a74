// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"sync"
)

// EventQueue carries events from a host to the reader of a Watch. A driver makes one for each Watch. Add never blocks, however
// slow the reader is: an event that is queued already is not queued again, so the queue holds at most one for each machine.
type EventQueue struct {
	mu     sync.Mutex
	queue  []Event
	queued map[Event]struct{}
	ended  bool
	// changed has a token when something was added, or the queue has ended.
	changed chan struct{}
}

// NewEventQueue returns an empty queue.
func NewEventQueue() *EventQueue {
	return &EventQueue{queued: map[Event]struct{}{}, changed: make(chan struct{}, 1)}
}

// Add queues the event, unless it is queued already.
func (q *EventQueue) Add(event Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.queued[event]; known {
		return
	}
	q.queued[event] = struct{}{}
	q.queue = append(q.queue, event)
	q.signal()
}

// End says that no more events will be added. Those that are queued are still delivered.
func (q *EventQueue) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.signal()
}

// Deliver returns a channel with the events in the order in which they were added. It is closed when the queue has ended and is
// empty, or when ctx ends. Call it once.
func (q *EventQueue) Deliver(ctx context.Context) <-chan Event {
	out := make(chan Event)
	go func() {
		defer close(out)
		for q.wait(ctx) {
			next := q.take()
			select {
			case <-ctx.Done():
				return
			case out <- next:
			}
		}
	}()
	return out
}

// wait waits until an event is queued. False if there will be none.
func (q *EventQueue) wait(ctx context.Context) bool {
	for {
		q.mu.Lock()
		found, ended := len(q.queue) > 0, q.ended
		q.mu.Unlock()
		if found || ended {
			return found && ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-q.changed:
		}
	}
}

// take removes the first event. From then on it can be queued again, because the reader may call Get before it happens again.
func (q *EventQueue) take() Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	next := q.queue[0]
	q.queue = q.queue[1:]
	delete(q.queued, next)
	return next
}

func (q *EventQueue) signal() {
	select {
	case q.changed <- struct{}{}:
	default: // The reader has not taken the last one yet.
	}
}
