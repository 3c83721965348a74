// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// health is what a store knows about itself. It is under the lock of the journal.
type health struct {
	// lost is since when no watch is open; zero while one is.
	lost time.Time
	// refused is true once the API server has said that the gateway's account cannot watch the kind, or that it is not
	// installed, and until the store is in step.
	refused bool
	// owed is the newest resourceVersion that the gateway has written and not yet seen, and 0 for none.
	owed uint64
	// deleted are the objects that the gateway has deleted and not yet seen go.
	deleted []*view.Item
}

// StaleAfter is for how long a store can be without a watch before it says so. The API server ends every watch after some minutes, and the
// next one opens within moments.
const StaleAfter = time.Second

// Behind returns for how long the store has not heard from the API server, and 0 while its watch is open and the server answers.
func (s *Store) Behind(now time.Time) time.Duration {
	s.journal.mu.RLock()
	defer s.journal.mu.RUnlock()
	since := s.behind()
	if since.IsZero() {
		return 0
	}
	return now.Sub(since)
}

// behind returns since when the store has not heard from the API server; zero while it does. It needs the lock.
func (s *Store) behind() time.Time {
	if silent := s.journal.silent; s.lost.IsZero() || !silent.IsZero() && silent.Before(s.lost) {
		return silent
	}
	return s.lost
}

// Refused reports whether the gateway's account cannot watch the kind. Other stores that are not in step soon will be.
func (s *Store) Refused() bool {
	s.journal.mu.RLock()
	defer s.journal.mu.RUnlock()
	return s.refused
}

// Owes reports whether the store lacks a write of the gateway itself. The API server then has to be asked.
func (s *Store) Owes() bool {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	if s.owed <= s.version {
		s.owed = 0
	}
	s.deleted = slices.DeleteFunc(s.deleted, s.hasSeenGo)
	return s.owed > 0 || len(s.deleted) > 0
}

// owe notes a write that the store has not seen in time. It needs the lock.
func (s *Store) owe(version uint64) { s.owed = max(s.owed, version) }

// oweDeletion notes a deletion that the store has not seen in time. It needs the lock. There are at most as many as objects,
// because an object that the store does not have cannot be owed. Without a UID nobody could tell the object from its
// successor.
func (s *Store) oweDeletion(of *view.Item) {
	if of.UID == "" {
		return
	}
	if !slices.ContainsFunc(s.deleted, func(known *view.Item) bool { return known.Key() == of.Key() && known.UID == of.UID }) {
		s.deleted = append(s.deleted, of)
	}
}

// hasSeenGo reports whether the object is gone, is being deleted, or has another UID. It needs the lock.
func (s *Store) hasSeenGo(deleted *view.Item) bool {
	item, exists := s.items[deleted.Key()]
	return !exists || item.Deleting || deleted.UID != "" && item.UID != deleted.UID
}

// heard notes an answer of the API server to the watch or the list of the store.
func (s *Store) heard(err error) {
	refused := apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
	if !refused {
		return
	}
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	if s.refused || s.synced {
		return
	}
	s.refused = true
	s.restart() // because readers wait for the store
}

// restart sends the readers back to a snapshot. The journal has it too, for those who are away and come back.
func (s *Store) restart() {
	s.journal.add(s.kind.Plural, "", nil)
	for r := range s.readers {
		r.restart()
	}
}

// attached notes an open watch, until it is stopped.
func (s *Store) attached(w watch.Interface) watch.Interface {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	s.lost = time.Time{}
	return &attachedWatch{Interface: w, detach: sync.OnceFunc(s.detached)}
}

func (s *Store) detached() {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	s.lost = s.journal.now()
}

// attachedWatch tells its store when it ends.
type attachedWatch struct {
	watch.Interface

	detach func()
}

// Stop implements watch.Interface. A reflector calls it also when the API server has ended the watch.
func (w *attachedWatch) Stop() {
	w.detach()
	w.Interface.Stop()
}
