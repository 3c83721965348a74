// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"bytes"
	"maps"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// countPause is how often a stream tells counts at most, however many objects change.
const countPause = time.Second

// tallies count the objects of a store by their health. They change with the object that changes, so that nobody counts all
// objects again. They are under the lock of the journal.
type tallies struct {
	// all counts all objects, and within those of each namespace.
	all    view.Tally
	within map[string]view.Tally
	// revision tells whether a count has changed.
	revision uint64
}

func newTallies() tallies { return tallies{all: view.Tally{}, within: map[string]view.Tally{}} }

// count counts an object that is new in the namespace, gone from it, or has another health than before. The items are nil for none.
func (t *tallies) count(namespace string, before, now *view.Item) {
	if before != nil && now != nil && before.Health == now.Health {
		return
	}
	part := t.within[namespace]
	if part == nil {
		part = view.Tally{}
		t.within[namespace] = part
	}
	if before != nil {
		t.all.Add(before.Health, -1)
		part.Add(before.Health, -1)
	}
	if now != nil {
		t.all.Add(now.Health, 1)
		part.Add(now.Health, 1)
	}
	if len(part) == 0 {
		delete(t.within, namespace)
	}
	t.revision++
}

// counts returns the counts of what is in the scope.
func (t *tallies) counts(plural string, scope view.Scope) view.KindCounts {
	if scope.All {
		return view.CountsOf(plural, t.all)
	}
	parts := make([]view.Tally, 0, len(scope.Namespaces))
	for namespace := range scope.Namespaces {
		parts = append(parts, t.within[namespace])
	}
	return view.CountsOf(plural, parts...)
}

// Count returns how many objects of the scope have which health, and all objects of the kind at that moment; false until the store is in step.
func (s *Store) Count(scope view.Scope) (counted view.Tally, items []*view.Item, ok bool) {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	items, ok = s.share()
	if scope.All {
		return maps.Clone(s.tallies.all), items, ok
	}
	counted = view.Tally{}
	for namespace := range scope.Namespaces {
		for health, count := range s.tallies.within[namespace] {
			counted.Add(health, count)
		}
	}
	return counted, items, ok
}

// counted is what a reader knows of the counts.
type counted struct {
	// revisions of the stores when it was told last.
	revisions []uint64
	// told is the event that it was sent.
	told []byte
}

// countsEvent returns the event with the counts of the kinds in the scopes, and nothing while the reader knows them.
func (h *Hub) countsEvent(kinds []*Kind, of Scopes, known *counted) []byte {
	shown, hidden := []view.KindCounts{}, []string{}
	revisions := make([]uint64, 0, len(kinds))
	h.journal.mu.RLock()
	changed := len(known.revisions) != len(kinds)
	for i, k := range kinds {
		revisions = append(revisions, k.Store.tallies.revision)
		changed = changed || known.revisions[i] != revisions[i]
	}
	if !changed {
		h.journal.mu.RUnlock()
		return nil
	}
	for _, k := range kinds {
		if scope := of[k.Plural]; k.Store.synced && !scope.Empty() {
			shown = append(shown, k.Store.tallies.counts(k.Plural, scope))
		} else {
			hidden = append(hidden, k.Plural)
		}
	}
	h.journal.mu.RUnlock()
	view.SortCounts(shown)
	out := event("summary", struct {
		Type   string            `json:"type"`
		Kinds  []view.KindCounts `json:"kinds"`
		Hidden []string          `json:"hidden"`
	}{"summary", shown, hidden})
	known.revisions = revisions
	if bytes.Equal(known.told, out) { // what has changed is outside of the scopes
		return nil
	}
	known.told = out
	return out
}
