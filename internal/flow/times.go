// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Times remembers a time for each object. Its zero value is empty.
type Times struct {
	mu  sync.Mutex
	all map[client.ObjectKey]time.Time
}

// Set remembers a time in place of the one before.
func (t *Times) Set(key client.ObjectKey, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = make(map[client.ObjectKey]time.Time)
	}
	t.all[key] = at
}

// Last returns what was set last, the zero time if nothing was.
func (t *Times) Last(key client.ObjectKey) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[key]
}

// Drop forgets the time.
func (t *Times) Drop(key client.ObjectKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, key)
}
