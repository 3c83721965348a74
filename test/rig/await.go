// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Waiter waits, by a watch, until a number of objects is in a state.
type Waiter struct {
	kind     string
	want     int
	ok       func(client.Object) bool
	cancel   func()
	mutex    sync.Mutex
	in       map[client.ObjectKey]bool
	armed    bool
	at       time.Time
	complete chan struct{}
}

// Await begins to watch until exactly want objects of the kind are in the state that ok describes. Objects that are there
// already have been looked at when it returns.
func Await(
	ctx context.Context, informers cache.Cache, kind client.Object, want int, ok func(client.Object) bool,
) (*Waiter, error) {
	informer, err := informers.GetInformer(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("cannot watch %T: %w", kind, err)
	}
	w := &Waiter{
		kind: fmt.Sprintf("%T", kind), want: want, ok: ok, in: map[client.ObjectKey]bool{}, complete: make(chan struct{}),
	}
	handle, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { w.see(object, false) },
		UpdateFunc: func(_, object any) { w.see(object, false) },
		DeleteFunc: func(object any) { w.see(object, true) },
	})
	if err != nil {
		return nil, fmt.Errorf("cannot watch %T: %w", kind, err)
	}
	w.cancel = func() { _ = informer.RemoveEventHandler(handle) }
	if !toolscache.WaitForCacheSync(ctx.Done(), handle.HasSynced) {
		w.cancel()
		return nil, ctx.Err()
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.armed = true
	w.check()
	return w, nil
}

func (w *Waiter) see(seen any, gone bool) {
	if tombstone, ok := seen.(toolscache.DeletedFinalStateUnknown); ok {
		seen = tombstone.Obj
	}
	object, ok := seen.(client.Object)
	if !ok {
		return
	}
	fits := !gone && w.ok(object)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if fits {
		w.in[client.ObjectKeyFromObject(object)] = true
	} else {
		delete(w.in, client.ObjectKeyFromObject(object))
	}
	w.check()
}

// check notes the time when the number is reached. The caller holds the mutex.
func (w *Waiter) check() {
	if w.armed && w.at.IsZero() && len(w.in) == w.want {
		w.at = time.Now()
		close(w.complete)
	}
}

// Cancel ends the watching.
func (w *Waiter) Cancel() { w.cancel() }

// Wait waits until the number is reached, at most that long, and returns when that was.
func (w *Waiter) Wait(ctx context.Context, within time.Duration) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	select {
	case <-w.complete:
		return w.at, nil
	case <-ctx.Done():
		w.mutex.Lock()
		defer w.mutex.Unlock()
		return time.Time{}, fmt.Errorf("cannot wait any longer: %d of %d %s are as expected: %w", len(w.in), w.want, w.kind, ctx.Err())
	}
}
