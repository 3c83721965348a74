// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Kind is a kind with the store of its objects.
type Kind struct {
	view.Kind

	// Store holds the objects of the kind.
	Store *Store
}

// Scopes are what a reader may see of each kind, by its plural.
type Scopes map[string]view.Scope

// hash tells what a reader sees from what another one does: of which objects, and which fields of them.
func (s Scopes) hash(fields *view.Projection) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(fields.String()))
	for _, plural := range slices.Sorted(maps.Keys(s)) {
		// Writing to a hash never fails.
		_, _ = fmt.Fprintf(sum, "%s:%t:%s;", plural, s[plural].All, strings.Join(s[plural].Names(), ","))
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}

// Hub is all kinds with their stores, and the readers that follow them.
type Hub struct {
	// Kinds in the order of the table.
	Kinds []*Kind

	journal *journal
}

// NewHub returns a hub whose stores are empty until Run fills them.
func NewHub(table []view.Kind, now func() time.Time) *Hub {
	h := &Hub{journal: newJournal(now)}
	for i := range table {
		h.Kinds = append(h.Kinds, &Kind{Kind: table[i], Store: newStore(&table[i], h.journal)})
	}
	return h
}

// Kind returns the kind of that plural; false if there is none.
func (h *Hub) Kind(plural string) (*Kind, bool) {
	for _, k := range h.Kinds {
		if k.Plural == plural {
			return k, true
		}
	}
	return nil, false
}

// Missing returns the kinds whose stores are not yet in step with the API server. A kind that the account cannot watch is not
// among them: its requests are sent on.
func (h *Hub) Missing() []string {
	var out []string
	for _, k := range h.Kinds {
		if _, _, ok := k.Store.List(); !ok && !k.Uncached && !k.Store.Refused() {
			out = append(out, k.Plural)
		}
	}
	return out
}

// snapshot is what a reader begins with: either what it missed, or everything.
type snapshot struct {
	sequence uint64
	missed   []*change
	// resumed is true if missed is all that the reader needs.
	resumed bool
	// parts are the objects of the kinds that the reader may see something of.
	parts []part
}

// part is what there is of one kind.
type part struct {
	kind  *Kind
	items []*view.Item
	// pending is true for a kind whose store is not in step: once it is, or was refused, its readers begin again. refused is
	// true for a kind that the account cannot watch.
	pending, refused bool
}

// join adds a reader. lastID is the id of the last event that it has seen, empty for none, and hash that of what it sees.
func (h *Hub) join(of Scopes, lastID, hash string) (*reader, snapshot) {
	r := newReader()
	h.journal.mu.Lock()
	defer h.journal.mu.Unlock()
	h.subscribe(r, of)
	if last, ok := h.journal.parseID(lastID, hash); ok {
		if missed, ok := h.journal.since(last, of); ok {
			return r, snapshot{sequence: h.journal.sequence, missed: missed, resumed: true}
		}
	}
	return r, h.snapshot(of)
}

// renew empties the queue of a reader that has lost something, or whose scopes have changed, and returns what it begins
// with again.
func (h *Hub) renew(r *reader, of Scopes) snapshot {
	h.journal.mu.Lock()
	defer h.journal.mu.Unlock()
	r.reset()
	h.subscribe(r, of)
	return h.snapshot(of)
}

// leave removes a reader.
func (h *Hub) leave(r *reader) {
	h.journal.mu.Lock()
	defer h.journal.mu.Unlock()
	h.subscribe(r, nil)
}

// subscribe tells every store what the reader may see of it. It needs the lock.
func (h *Hub) subscribe(r *reader, of Scopes) {
	for _, k := range h.Kinds {
		k.Store.subscribe(r, of[k.Plural])
	}
}

// snapshot needs the lock.
func (h *Hub) snapshot(of Scopes) snapshot {
	out := snapshot{sequence: h.journal.sequence}
	for _, k := range h.Kinds {
		if of[k.Plural].Empty() {
			continue
		}
		items, ok := k.Store.share()
		out.parts = append(out.parts, part{kind: k, items: items, pending: !ok, refused: !ok && k.Store.refused})
	}
	return out
}
