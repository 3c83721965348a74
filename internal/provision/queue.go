// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"slices"
	"sync"
	"time"
)

// callPatience is how long a cluster that was called can take to start its run, before the slot is offered to the next one. A Cluster that was
// paused or deleted meanwhile does not come.
const callPatience = 10 * time.Second

// Queue holds the clusters that found no slot for their run, the one that came first at its head. The zero value is empty. It only decides who
// is woken: a cluster that looks by itself can still take a slot.
type Queue struct {
	mu      sync.Mutex
	tickets []ticket
}

// ticket is the place of a cluster in a Queue.
type ticket struct {
	cluster string
	// called is when the cluster was told of a slot; zero if it was not, or if another one has taken the slot.
	called time.Time
}

// Join adds a cluster at the end. One that is there keeps its place, and can be called again.
func (q *Queue) Join(cluster string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.index(cluster); i >= 0 {
		q.tickets[i].called = time.Time{}
		return
	}
	q.tickets = append(q.tickets, ticket{cluster: cluster})
}

// Leave removes a cluster that has found a slot, or needs none any more.
func (q *Queue) Leave(cluster string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.index(cluster); i >= 0 {
		q.tickets = slices.Delete(q.tickets, i, i+1)
	}
}

// Call returns the clusters to wake while that many slots are free. Each is called once, and loses its place if it does not come.
func (q *Queue) Call(free int, now time.Time) []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tickets = slices.DeleteFunc(q.tickets, func(t ticket) bool { return !t.called.IsZero() && now.Sub(t.called) > callPatience })
	var called []string
	for i := range q.tickets[:max(0, min(free, len(q.tickets)))] {
		if next := &q.tickets[i]; next.called.IsZero() {
			next.called = now
			called = append(called, next.cluster)
		}
	}
	return called
}

func (q *Queue) index(cluster string) int {
	return slices.IndexFunc(q.tickets, func(t ticket) bool { return t.cluster == cluster })
}
