// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Store holds the objects of one kind, encoded once, in order, and the readers that follow them. A reflector fills it. All
// of it is under the lock of the journal.
type Store struct {
	health

	kind    *view.Kind
	journal *journal
	// readers are those that may see something of the kind.
	readers map[*reader]view.Scope
	items   map[string]*view.Item
	tallies tallies
	// bytes is the size of all items.
	bytes int
	// ordered are the items by namespace and name. Once shared it is copied before it changes.
	ordered []*view.Item
	shared  bool
	synced  bool
	// version is the newest resourceVersion that the watch has seen.
	version uint64
	// changed is closed when something changes, and nil while nobody waits.
	changed chan struct{}
}

var _ cache.ReflectorStore = (*Store)(nil)

func newStore(kind *view.Kind, j *journal) *Store {
	return &Store{kind: kind, journal: j, readers: map[*reader]view.Scope{}, items: map[string]*view.Item{}, tallies: newTallies()}
}

// Add implements cache.ReflectorStore.
func (s *Store) Add(object any) error { return s.Update(object) }

// Update implements cache.ReflectorStore.
func (s *Store) Update(object any) error {
	item, err := toItem(object)
	if err != nil {
		return err
	}
	payload := upsertEvent(s.kind.Plural, item)
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	s.set(item, payload)
	s.advance(item.Version)
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *Store) Delete(object any) error {
	item, err := toItem(object)
	if err != nil {
		return err
	}
	payload := deleteEvent(s.kind.Plural, item)
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	s.remove(item, payload)
	s.advance(item.Version)
	return nil
}

// Replace implements cache.ReflectorStore. Readers are told only what differs.
func (s *Store) Replace(objects []any, version string) error {
	fresh := make(map[string]*view.Item, len(objects))
	for _, object := range objects {
		item, err := toItem(object)
		if err != nil {
			return err
		}
		fresh[item.Key()] = item
	}
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	for key, old := range s.items {
		if _, exists := fresh[key]; !exists {
			s.remove(old, deleteEvent(s.kind.Plural, old))
		}
	}
	if !s.synced { // nobody reads before the first time
		s.fill(fresh)
	}
	for key, item := range fresh {
		if old, exists := s.items[key]; !exists || old.Version != item.Version || old.UID != item.UID {
			s.set(item, upsertEvent(s.kind.Plural, item))
		}
	}
	s.advance(versionOf(version))
	return nil
}

// Resync implements cache.ReflectorStore; there is nothing to repeat.
func (*Store) Resync() error { return nil }

// Bookmark implements cache.ReflectorBookmarkStore.
func (s *Store) Bookmark(version string) error {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	s.advance(versionOf(version))
	return nil
}

// List returns all items in order and the resourceVersion of the list; false until the store is in step.
func (s *Store) List() (items []*view.Item, version uint64, ok bool) {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	items, ok = s.share()
	return items, s.version, ok
}

// Get returns an item.
func (s *Store) Get(namespace, name string) (*view.Item, bool) {
	s.journal.mu.RLock()
	defer s.journal.mu.RUnlock()
	item, exists := s.items[view.Key(namespace, name)]
	return item, exists
}

// Changed returns a channel that is closed when an object of the kind changes; nil until the store is in step.
func (s *Store) Changed() <-chan struct{} {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	if !s.synced {
		return nil
	}
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// AwaitVersion waits until the store has seen the resourceVersion. A store that has not in time owes it.
func (s *Store) AwaitVersion(ctx context.Context, version string) error {
	wanted := versionOf(version)
	return s.await(ctx, func() bool { return s.version >= wanted }, func() { s.owe(wanted) })
}

// AwaitDeletion waits until the object is gone, is being deleted, or has another UID. A store that has not seen it in time owes
// it.
func (s *Store) AwaitDeletion(ctx context.Context, deleted *view.Item) error {
	return s.await(ctx, func() bool { return s.hasSeenGo(deleted) }, func() { s.oweDeletion(deleted) })
}

// errNotSynced is the error of waiting for a store whose watch has not started.
var errNotSynced = errors.New("cannot wait for a store that is not in step")

// await waits until check holds, and calls owe if it does not in time. Both are called with the lock.
func (s *Store) await(ctx context.Context, check func() bool, owe func()) error {
	for {
		s.journal.mu.Lock()
		if !s.synced {
			s.journal.mu.Unlock()
			return errNotSynced
		}
		if check() {
			s.journal.mu.Unlock()
			return nil
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.journal.mu.Unlock()
		select {
		case <-ctx.Done():
			s.locked(owe)
			return ctx.Err()
		case <-changed:
		}
	}
}

func (s *Store) locked(do func()) {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	do()
}

// What follows needs the lock.

// subscribe sends changes in the scope to the reader from now on.
func (s *Store) subscribe(r *reader, scope view.Scope) {
	if scope.Empty() {
		delete(s.readers, r)
		return
	}
	s.readers[r] = scope
}

// share returns all items in order, which are not changed any more; false until the store is in step.
func (s *Store) share() ([]*view.Item, bool) {
	s.shared = true
	return s.ordered, s.synced
}

// fill puts the first items into the store and sends readers who came before back to a snapshot.
func (s *Store) fill(fresh map[string]*view.Item) {
	s.items = fresh
	s.ordered = make([]*view.Item, 0, len(fresh))
	for _, item := range fresh {
		s.ordered = append(s.ordered, item)
	}
	slices.SortFunc(s.ordered, view.Compare)
	s.bytes = 0
	for _, item := range fresh {
		s.bytes += len(item.JSON)
		s.tallies.count(s.kind.ScopeOf(item), nil, item)
	}
	s.tallies.revision++ // also of a kind without objects
	s.measure()
	s.shared, s.synced, s.refused = false, true, false
	s.restart()
}

func (s *Store) set(item *view.Item, payload []byte) {
	s.unshare()
	at, exists := slices.BinarySearchFunc(s.ordered, item, view.Compare)
	if exists {
		s.ordered[at] = item
	} else {
		s.ordered = slices.Insert(s.ordered, at, item)
	}
	old := s.items[item.Key()]
	if old != nil {
		s.bytes -= len(old.JSON)
	}
	s.tallies.count(s.kind.ScopeOf(item), old, item)
	s.items[item.Key()] = item
	s.bytes += len(item.JSON)
	s.measure()
	s.publish(item, payload)
}

func (s *Store) remove(item *view.Item, payload []byte) {
	key := item.Key()
	old, exists := s.items[key]
	if !exists {
		return
	}
	s.unshare()
	if at, exists := slices.BinarySearchFunc(s.ordered, item, view.Compare); exists {
		s.ordered = slices.Delete(s.ordered, at, at+1)
	}
	delete(s.items, key)
	s.bytes -= len(old.JSON)
	s.tallies.count(s.kind.ScopeOf(old), old, nil)
	s.measure()
	s.publish(item, payload)
}

// measure says in the metrics what the store keeps.
func (s *Store) measure() {
	storedObjects.WithLabelValues(s.kind.Plural).Set(float64(len(s.items)))
	storedBytes.WithLabelValues(s.kind.Plural).Set(float64(s.bytes))
}

func (s *Store) unshare() {
	if s.shared {
		s.ordered = slices.Clone(s.ordered)
		s.shared = false
	}
}

// publish sends a change to every reader that may see it. It never waits for a slow reader.
func (s *Store) publish(item *view.Item, payload []byte) {
	namespace := s.kind.ScopeOf(item)
	c := s.journal.add(s.kind.Plural, namespace, payload)
	for r, scope := range s.readers {
		if scope.Admits(namespace) {
			r.offer(c)
		}
	}
}

func (s *Store) advance(version uint64) {
	s.version = max(s.version, version)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

func toItem(object any) (*view.Item, error) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	content, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("cannot store a %T: not an object", object)
	}
	return view.NewItem(content, false)
}

// versionOf returns a resourceVersion as a number, and 0 for one that is not a number and so cannot be compared.
func versionOf(version string) uint64 {
	number, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return number
}
