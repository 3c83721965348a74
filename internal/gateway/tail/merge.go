// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package tail

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"
)

// Sink gets the lines.
type Sink interface {
	// Put passes a line on. The text is good until it returns.
	Put(line *Line) error
	// Flush is called when no line is waiting.
	Flush() error
}

// Options say how logs are merged.
type Options struct {
	// Follow is true for logs that go on.
	Follow bool
	// Settle is how long a log that is followed may be quiet until it counts as read to its present end.
	Settle time.Duration
	// Max is how many logs are read at the same time.
	Max int
}

// merger is what Merge works on.
type merger struct {
	Options

	to       Sink
	arrivals chan arrival
	readers  sync.WaitGroup
	// wanted are the sources of the last set, and begun those of them that have been opened, by their keys.
	wanted []Source
	begun  map[string]bool
	// open is how many are being read, and awaited those whose next line the history needs.
	open    int
	awaited map[*reader]bool
	heads   heads
	// first is true until the first set is there, and left is how many sources the reader was told that are not read.
	first bool
	left  int
}

// Merge passes on the lines of sources until the context ends; if they are not followed, until all have ended. Each set has all sources
// that are wanted from then on: new ones are opened, and those that are gone are read to their end. A source that ends is not opened
// again. The channel is closed after the last set.
func Merge(ctx context.Context, sets <-chan []Source, to Sink, options Options) error {
	ctx, cancel := context.WithCancel(ctx)
	m := &merger{Options: options, to: to, arrivals: make(chan arrival), begun: map[string]bool{}, awaited: map[*reader]bool{}, first: true}
	defer m.readers.Wait()
	defer cancel()
	for {
		if err := m.emit(); err != nil {
			return err
		}
		if sets == nil && m.open == 0 {
			return to.Flush()
		}
		select { // what is there already
		case a := <-m.arrivals:
			if err := m.take(ctx, a); err != nil {
				return err
			}
			continue
		default:
		}
		if err := to.Flush(); err != nil {
			return err
		}
		quiet, stop := m.quiet()
		var err error
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case a := <-m.arrivals:
			err = m.take(ctx, a)
		case set, more := <-sets:
			if !more {
				sets = nil
				break
			}
			m.wanted = set
			err = m.begin(ctx)
		case <-quiet:
			m.settle()
		}
		stop()
		if err != nil {
			return err
		}
	}
}

// emit passes on lines for as long as no other source can have an older one.
func (m *merger) emit() error {
	for len(m.awaited) == 0 && len(m.heads) > 0 {
		next, _ := heap.Pop(&m.heads).(arrival) // which is all there is
		if err := m.to.Put(next.line); err != nil {
			return err
		}
		if !next.from.live {
			m.awaited[next.from] = true
		}
		next.from.next <- struct{}{}
	}
	return nil
}

// take notes what a source has sent: a line, or its end.
func (m *merger) take(ctx context.Context, a arrival) error {
	delete(m.awaited, a.from)
	if a.line != nil {
		heap.Push(&m.heads, a)
		return nil
	}
	m.open--
	if notice := a.notice(m.Follow); notice != "" {
		if err := m.to.Put(&Line{Pod: a.from.Pod, Container: a.from.Container, Notice: notice}); err != nil {
			return err
		}
	}
	return m.begin(ctx) // one that had no room
}

// begin opens the sources that are wanted and were not opened before, as far as there is room.
func (m *merger) begin(ctx context.Context) error {
	known, left := map[string]bool{}, 0
	for i := range m.wanted {
		key := m.wanted[i].Key
		switch {
		case m.begun[key]:
			known[key] = true
		case m.open == m.Max:
			left++
		default:
			known[key] = true
			if err := m.read(ctx, &m.wanted[i]); err != nil {
				return err
			}
		}
	}
	m.begun, m.first = known, false
	if left == m.left {
		return nil
	}
	m.left = left
	return m.to.Put(&Line{Notice: fmt.Sprintf("%d containers are not read: at most %d are at the same time", left, m.Max)})
}

// read opens a source. Those of the first set are merged by time; later ones join as they are.
func (m *merger) read(ctx context.Context, of *Source) error {
	r := &reader{Source: *of, order: len(m.begun), live: !m.first, next: make(chan struct{}, 1)}
	m.begun[of.Key] = true
	m.open++
	if m.first {
		m.awaited[r] = true
	}
	m.readers.Go(func() { r.run(ctx, m.arrivals) })
	if m.first {
		return nil
	}
	return m.to.Put(&Line{Pod: of.Pod, Container: of.Container, Notice: "has joined"})
}

// quiet returns what says that the logs that are waited for have nothing more at present. Only logs that go on can be without an end.
func (m *merger) quiet() (signal <-chan time.Time, stop func()) {
	if !m.Follow || len(m.awaited) == 0 {
		return nil, func() {}
	}
	timer := time.NewTimer(m.Settle)
	return timer.C, func() { timer.Stop() }
}

// settle ends the history of the sources that are waited for.
func (m *merger) settle() {
	for r := range m.awaited {
		r.live = true
	}
	clear(m.awaited)
}
