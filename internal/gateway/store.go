// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// store holds the objects of one kind, encoded once, in order. A reflector fills it; everything it holds is under the
// lock of the hub, so that a snapshot and the events after it fit together.
type store struct {
	hub   *hub
	index int
	items map[string]*view.Item
	// ordered are the items by namespace and name. Once handed out it is copied before it changes.
	ordered []*view.Item
	shared  bool
	synced  bool
	// version is the newest resourceVersion that the watch has seen.
	version uint64
	// changed is closed when something changes, and nil while nobody waits.
	changed chan struct{}
}

var _ cache.ReflectorStore = (*store)(nil)

// Add implements cache.ReflectorStore.
func (s *store) Add(object any) error { return s.Update(object) }

// Update implements cache.ReflectorStore.
func (s *store) Update(object any) error {
	item, err := toItem(object)
	if err != nil {
		return err
	}
	payload := s.upsertPayload(item)
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.set(item, payload)
	s.advance(item.Version)
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *store) Delete(object any) error {
	item, err := toItem(object)
	if err != nil {
		return err
	}
	payload := s.deletePayload(item)
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.remove(item, payload)
	s.advance(item.Version)
	return nil
}

// Replace implements cache.ReflectorStore: only what differs is told to readers.
func (s *store) Replace(objects []any, version string) error {
	fresh := make(map[string]*view.Item, len(objects))
	for _, object := range objects {
		item, err := toItem(object)
		if err != nil {
			return err
		}
		fresh[item.Key()] = item
	}
	newest, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		newest = 0
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	for key, old := range s.items {
		if _, exists := fresh[key]; !exists {
			s.remove(old, s.deletePayload(old))
		}
	}
	if !s.synced { // nobody reads before the first time
		s.items = fresh
		s.ordered = make([]*view.Item, 0, len(fresh))
		for _, item := range fresh {
			s.ordered = append(s.ordered, item)
		}
		slices.SortFunc(s.ordered, view.Compare)
		s.shared, s.synced = false, true
		s.hub.restart(s.index)
	}
	for key, item := range fresh {
		if old, exists := s.items[key]; !exists || old.Version != item.Version || old.UID != item.UID {
			s.set(item, s.upsertPayload(item))
		}
	}
	s.advance(newest)
	return nil
}

// Resync implements cache.ReflectorStore; there is nothing to repeat.
func (*store) Resync() error { return nil }

// Bookmark implements cache.ReflectorBookmarkStore.
func (s *store) Bookmark(version string) error {
	newest, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return nil // a version that is no number cannot be compared, and nothing else is lost
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.advance(newest)
	return nil
}

func toItem(object any) (*view.Item, error) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	content, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("cannot keep %T: it is no object", object)
	}
	return view.NewItem(content, false)
}

// set and remove need the lock.
func (s *store) set(item *view.Item, payload []byte) {
	key := item.Key()
	s.unshare()
	at, exists := slices.BinarySearchFunc(s.ordered, item, view.Compare)
	if exists {
		s.ordered[at] = item
	} else {
		s.ordered = slices.Insert(s.ordered, at, item)
	}
	s.items[key] = item
	s.hub.publish(s.index, scopeKey(&s.hub.kinds[s.index], item), payload)
}

func (s *store) remove(item *view.Item, payload []byte) {
	key := item.Key()
	if _, exists := s.items[key]; !exists {
		return
	}
	s.unshare()
	if at, exists := slices.BinarySearchFunc(s.ordered, item, view.Compare); exists {
		s.ordered = slices.Delete(s.ordered, at, at+1)
	}
	delete(s.items, key)
	s.hub.publish(s.index, scopeKey(&s.hub.kinds[s.index], item), payload)
}

func (s *store) unshare() {
	if s.shared {
		s.ordered = slices.Clone(s.ordered)
		s.shared = false
	}
}

func (s *store) advance(version uint64) {
	s.version = max(s.version, version)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// list returns all items in order, and the resourceVersion they are as of; not ok until the store is in step.
func (s *store) list() (items []*view.Item, version uint64, ok bool) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.shared = true
	return s.ordered, s.version, s.synced
}

// get returns an item.
func (s *store) get(namespace, name string) (*view.Item, bool) {
	s.hub.mu.RLock()
	defer s.hub.mu.RUnlock()
	item, exists := s.items[view.Key(namespace, name)]
	return item, exists
}

// errNotSynced is for a store that does not run, or not yet.
var errNotSynced = errors.New("cannot wait for a store that is not in step")

// await waits until check holds; the lock is held while it looks.
func (s *store) await(ctx context.Context, check func() bool) error {
	for {
		s.hub.mu.Lock()
		if !s.synced {
			s.hub.mu.Unlock()
			return errNotSynced
		}
		if check() {
			s.hub.mu.Unlock()
			return nil
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.hub.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// upsertPayload encodes what all readers are sent.
func (s *store) upsertPayload(item *view.Item) []byte {
	plural := s.hub.kinds[s.index].plural
	out := make([]byte, 0, len(item.JSON)+len(plural)+48)
	out = append(out, "event: upsert\ndata: {\"kind\":\""...)
	out = append(out, plural...)
	out = append(out, `","object":`...)
	out = append(out, item.JSON...)
	return append(out, "}\n\n"...)
}

func (s *store) deletePayload(item *view.Item) []byte {
	raw, err := json.Marshal(map[string]string{
		fieldKind: s.hub.kinds[s.index].plural, "namespace": item.Namespace, "name": item.Name, "uid": string(item.UID),
	})
	if err != nil {
		return nil // strings can always be encoded
	}
	return fmt.Appendf(nil, "event: delete\ndata: %s\n\n", raw)
}

// versionOf returns a resourceVersion as a number, 0 where it is none.
func versionOf(version string) uint64 {
	number, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return number
}
