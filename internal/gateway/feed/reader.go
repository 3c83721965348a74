// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import "sync/atomic"

// queueSize is how many changes a reader may be behind.
const queueSize = 256

// reader is the receiving end of one stream.
type reader struct {
	queue chan *change
	// lost is true once a change did not fit into the queue: the reader then needs a new snapshot.
	lost atomic.Bool
}

func newReader() *reader { return &reader{queue: make(chan *change, queueSize)} }

// offer queues a change. It never waits for a slow reader.
func (r *reader) offer(c *change) {
	select {
	case r.queue <- c:
	default:
		if !r.lost.Swap(true) {
			streamResyncs.Inc()
		}
	}
}

// restart wakes the reader and makes it begin with a new snapshot.
func (r *reader) restart() {
	r.lost.Store(true)
	select {
	case r.queue <- &change{}:
	default: // a full queue wakes it as well
	}
}

// reset empties the queue.
func (r *reader) reset() {
	for len(r.queue) > 0 {
		<-r.queue
	}
	r.lost.Store(false)
}
