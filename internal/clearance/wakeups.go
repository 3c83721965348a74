// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package clearance

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

var _ source.Source = &Wakeups{}

// Wakeups is an event source for one controller. It hands names to the controller's own queue, which holds each of them once,
// however often it is added, and never blocks who adds it.
type Wakeups struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
	// early are the names that were woken before the controller started.
	early map[string]bool
}

// Start implements source.Source.
func (w *Wakeups) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		return errors.New("cannot wake two controllers from one source")
	}
	w.queue = queue
	for name := range w.early {
		queue.Add(request(name))
	}
	w.early = nil
	return nil
}

// wake puts the names into the queue, or keeps them until there is one.
func (w *Wakeups) wake(names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range names {
		switch {
		case w.queue != nil:
			w.queue.Add(request(name))
		case w.early == nil:
			w.early = map[string]bool{name: true}
		default:
			w.early[name] = true
		}
	}
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}
