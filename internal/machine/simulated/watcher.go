// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"context"
	"sync"

	"github.com/windlass-operator/windlass/internal/machine"
)

// watcher carries events to one reader, in order, and holds up nobody who does not read: an event that waits already is not
// queued twice, so that the queue is never longer than there are machines.
type watcher struct {
	installation string
	out          chan machine.Event

	mu      sync.Mutex
	queue   []machine.Event
	waiting map[machine.Event]bool
	ended   bool
	// news has a token when the queue or ended has changed.
	news chan struct{}
}

func newWatcher(installation string) *watcher {
	return &watcher{
		installation: installation,
		out:          make(chan machine.Event),
		waiting:      map[machine.Event]bool{},
		news:         make(chan struct{}, 1),
	}
}

// tell queues an event for everybody who watches the machine's installation.
func (h *Host) tell(g *guest) {
	for w := range h.watchers {
		if w.installation == g.spec.Installation {
			w.add(machine.Event{UID: g.spec.UID, Namespace: g.spec.Namespace, Name: g.spec.Name})
		}
	}
}

func (w *watcher) add(e machine.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.waiting[e] {
		w.waiting[e] = true
		w.queue = append(w.queue, e)
	}
	w.wake()
}

func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.wake()
}

func (w *watcher) wake() {
	select {
	case w.news <- struct{}{}:
	default: // There is news already.
	}
}

// run hands events over until ctx or the host ends it.
func (w *watcher) run(ctx context.Context) {
	defer close(w.out)
	for {
		next, found, ended := w.next()
		if ended {
			return
		}
		if !found {
			select {
			case <-ctx.Done():
				return
			case <-w.news:
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case w.out <- next:
		}
	}
}

// next takes the first event of the queue. What was queued before the end is still handed over.
func (w *watcher) next() (e machine.Event, found, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return machine.Event{}, false, w.ended
	}
	e = w.queue[0]
	w.queue = w.queue[1:]
	delete(w.waiting, e)
	return e, true, false
}
