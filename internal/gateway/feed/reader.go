// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import "sync/atomic"

const (
	// queueSize is how many changes a reader may be behind.
	queueSize = 256
	// queueBytes bounds what waits for one reader, unless it is a single change.
	queueBytes = 8 << 20
)

// reader is the receiving end of one stream.
type reader struct {
	queue chan *change
	// bytes is the size of the payloads in the queue.
	bytes atomic.Int64
	// lost is true once a change did not fit into the queue: the reader then needs a new snapshot.
	lost atomic.Bool
}

func newReader() *reader { return &reader{queue: make(chan *change, queueSize)} }

// offer queues a change. It never waits for a slow reader.
func (r *reader) offer(c *change) {
	size := int64(len(c.payload))
	if r.bytes.Add(size) <= queueBytes || len(r.queue) == 0 {
		select {
		case r.queue <- c:
			return
		default:
		}
	}
	r.bytes.Add(-size)
	if !r.lost.Load() {
		streamResyncs.Inc()
		r.restart()
	}
}

// took notes that the reader has taken a change from the queue.
func (r *reader) took(c *change) { r.bytes.Add(-int64(len(c.payload))) }

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
		r.took(<-r.queue)
	}
	r.lost.Store(false)
}
