// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestEventQueue(t *testing.T) {
	t.Parallel()
	one, two, three := Event{UID: "1"}, Event{UID: "2"}, Event{UID: "3"}
	for name, c := range map[string]struct {
		act  func(q *EventQueue, cancel context.CancelFunc)
		want []Event
	}{
		"nothing was added": {func(q *EventQueue, _ context.CancelFunc) { q.End() }, nil},
		"events come in order": {func(q *EventQueue, _ context.CancelFunc) {
			q.Add(two)
			q.Add(one)
			q.Add(three)
			q.End()
		}, []Event{two, one, three}},
		"an event that is queued is not queued again": {func(q *EventQueue, _ context.CancelFunc) {
			q.Add(one)
			q.Add(two)
			q.Add(one)
			q.Add(two)
			q.End()
		}, []Event{one, two}},
		"machines of one UID and different names are different": {func(q *EventQueue, _ context.CancelFunc) {
			q.Add(Event{UID: "1", Name: "a"})
			q.Add(Event{UID: "1", Name: "b"})
			q.End()
		}, []Event{{UID: "1", Name: "a"}, {UID: "1", Name: "b"}}},
		"what is queued when the context ends is dropped": {func(q *EventQueue, cancel context.CancelFunc) {
			q.Add(one)
			cancel()
		}, nil},
		"ending twice is ending once": {func(q *EventQueue, _ context.CancelFunc) {
			q.Add(one)
			q.End()
			q.End()
		}, []Event{one}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			q := NewEventQueue()
			c.act(q, cancel)
			var got []Event
			for e := range q.Deliver(ctx) {
				got = append(got, e)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventThatWasTakenIsQueuedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewEventQueue()
		events := q.Deliver(t.Context())
		for range 3 {
			q.Add(Event{UID: "1"})
			if got := <-events; got.UID != "1" {
				t.Fatalf("got %+v", got)
			}
			synctest.Wait()
		}
		q.End()
		if got, open := <-events; open {
			t.Errorf("got %+v after the end", got)
		}
	})
}

// TestSlowReaderDelaysNobody adds from many goroutines while nobody reads, and wants each machine to be delivered afterwards.
func TestSlowReaderDelaysNobody(t *testing.T) {
	t.Parallel()
	q := NewEventQueue()
	events := q.Deliver(t.Context())
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for n := range 1000 {
				q.Add(Event{UID: strconv.Itoa(n % 100)})
			}
		})
	}
	group.Wait()
	q.End()
	seen := map[string]int{}
	for e := range events {
		seen[e.UID]++
	}
	for n := range 100 {
		// The one that was offered to the reader from the start may be queued once more.
		if times := seen[strconv.Itoa(n)]; times < 1 || times > 2 {
			t.Errorf("machine %d was delivered %d times", n, times)
		}
	}
}
