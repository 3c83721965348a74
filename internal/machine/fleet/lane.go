// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"sync"
)

// lane has the slots of one kind of calls. A stop that a machine ignores keeps its slot for as long as editors allow, and an image that comes slowly does so
// for an hour. Of such patient calls, those of one namespace leave a slot to the machines of others.
type lane struct {
	all slots

	mu     sync.Mutex
	shares map[string]slots
}

func newLane(size int) *lane {
	return &lane{all: make(slots, size), shares: map[string]slots{}}
}

// enter waits for a slot. The namespace is that of a patient call, and empty for others. Call what it returns when the call has ended.
func (l *lane) enter(ctx context.Context, namespace string) (func(), error) {
	if namespace == "" {
		return func() { <-l.all }, l.all.take(ctx)
	}
	share := l.share(namespace)
	if err := share.take(ctx); err != nil {
		return nil, err
	}
	if err := l.all.take(ctx); err != nil {
		<-share
		return nil, err
	}
	return func() {
		<-l.all
		<-share
	}, nil
}

// share returns the slots of the patient calls of the namespace.
func (l *lane) share(namespace string) slots {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shares[namespace] == nil {
		l.shares[namespace] = make(slots, max(1, cap(l.all)-1))
	}
	return l.shares[namespace]
}

// slots are those of calls that run at the same time, one for each that can be sent.
type slots chan struct{}

// take waits for a slot, for as long as ctx lasts.
func (s slots) take(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
