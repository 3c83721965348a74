// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	// ringSize is how many events are kept for readers that come back.
	ringSize = 4096
	// queueSize is how many events a reader may be behind.
	queueSize = 256
)

// hub is all stores, the last events and everybody who follows them, under one lock.
type hub struct {
	kinds  []kind
	stores []*store
	// epoch tells the events of this process from those of another.
	epoch string

	mu sync.RWMutex
	// sequence is the number of the newest event.
	sequence uint64
	ring     [ringSize]*frame
	readers  map[*reader]struct{}
}

// frame is an event, encoded once for everybody.
type frame struct {
	sequence uint64
	kind     int
	// scope is the namespace whose readers may see it, and empty for what belongs to the whole cluster.
	scope   string
	payload []byte
}

// scope is what of a kind a caller may see: everything, or what is in some namespaces.
type scope struct {
	all        bool
	namespaces map[string]struct{}
}

func (s scope) admits(namespace string) bool {
	if s.all {
		return true
	}
	_, in := s.namespaces[namespace]
	return in
}

func (s scope) empty() bool { return !s.all && len(s.namespaces) == 0 }

// scopes are the scopes of a reader, one for each kind of the table.
type scopes []scope

// hash tells one set of scopes from another.
func (s scopes) hash() string {
	sum := fnv.New64a()
	for i, of := range s {
		// A hash never fails to be written to.
		_, _ = fmt.Fprintf(sum, "%d:%t:%s;", i, of.all, strings.Join(slices.Sorted(maps.Keys(of.namespaces)), ","))
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}

// scopeKey returns the namespace that decides who may see the item. A Namespace is in itself, as RBAC has it.
func scopeKey(k *kind, item *view.Item) string {
	if k.plural == namespacesPlural {
		return item.Name
	}
	return item.Namespace
}

// reader is somebody who follows.
type reader struct {
	queue  chan *frame
	scopes atomic.Pointer[scopes]
	// lost is true once something did not fit into the queue.
	lost atomic.Bool
}

func newHub(table []kind) *hub {
	h := &hub{kinds: table, epoch: strings.ToLower(rand.Text()[:10]), readers: map[*reader]struct{}{}}
	for i := range table {
		h.stores = append(h.stores, &store{hub: h, index: i, items: map[string]*view.Item{}})
	}
	return h
}

// publish needs the lock. It never waits for anybody.
func (h *hub) publish(kindIndex int, scopeOf string, payload []byte) {
	h.sequence++
	event := &frame{sequence: h.sequence, kind: kindIndex, scope: scopeOf, payload: payload}
	h.ring[h.sequence%ringSize] = event
	for r := range h.readers {
		if !(*r.scopes.Load())[kindIndex].admits(scopeOf) {
			continue
		}
		select {
		case r.queue <- event:
		default:
			if !r.lost.Swap(true) {
				streamResyncs.Inc()
			}
		}
	}
}

// snapshot is what a reader begins with: either what he missed, or everything.
type snapshot struct {
	sequence uint64
	missed   []*frame
	// resumed is true if missed is all that he needs.
	resumed bool
	// items are all items of each kind.
	items [][]*view.Item
	// stale are the kinds whose stores do not run.
	stale []int
}

// follow adds a reader. lastID is the id of the last event that he has seen, empty for none.
func (h *hub) follow(of scopes, lastID string) (*reader, snapshot) {
	r := &reader{queue: make(chan *frame, queueSize)}
	r.scopes.Store(&of)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers[r] = struct{}{}
	last, ok := h.parseID(lastID, of.hash())
	if !ok || last > h.sequence || h.sequence-last > ringSize {
		return r, h.snapshotLocked(of)
	}
	begin := snapshot{sequence: h.sequence, resumed: true}
	for sequence := last + 1; sequence <= h.sequence; sequence++ {
		event := h.ring[sequence%ringSize]
		if of[event.kind].admits(event.scope) {
			begin.missed = append(begin.missed, event)
		}
	}
	return r, begin
}

// restart sends readers of a kind whose store has just begun to work back to a snapshot. It needs the lock.
func (h *hub) restart(kindIndex int) {
	for r := range h.readers {
		if (*r.scopes.Load())[kindIndex].empty() {
			continue
		}
		r.lost.Store(true)
		select {
		case r.queue <- &frame{kind: kindIndex}: // wakes it
		default:
		}
	}
}

func (h *hub) leave(r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.readers, r)
}

// renew empties the queue of a reader who has lost something, or whose scopes are others now, and returns what he
// begins with again.
func (h *hub) renew(r *reader, of scopes) snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(r.queue) > 0 {
		<-r.queue
	}
	r.lost.Store(false)
	r.scopes.Store(&of)
	return h.snapshotLocked(of)
}

func (h *hub) snapshotLocked(of scopes) snapshot {
	out := snapshot{sequence: h.sequence, items: make([][]*view.Item, len(h.stores))}
	for i, s := range h.stores {
		switch {
		case of[i].empty():
		case !s.synced:
			out.stale = append(out.stale, i)
		default:
			s.shared = true
			out.items[i] = s.ordered
		}
	}
	return out
}

// appendID appends the line with the id of an event. Only its last part differs between readers.
func (h *hub) appendID(to []byte, sequence uint64, hash string) []byte {
	to = append(append(append(to, "id: "...), h.epoch...), '-')
	to = append(strconv.AppendUint(to, sequence, 10), '-')
	return append(append(to, hash...), '\n')
}

// parseID returns the sequence of an id, if it is of this process and of a reader with the same scopes.
func (h *hub) parseID(id, hash string) (uint64, bool) {
	epoch, rest, _ := strings.Cut(id, "-")
	number, of, _ := strings.Cut(rest, "-")
	sequence, err := strconv.ParseUint(number, 10, 64)
	return sequence, err == nil && epoch == h.epoch && of == hash
}
