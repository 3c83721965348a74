// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/status"
)

// Pass is what every pass over one object knows. The scope of a kind embeds it.
type Pass[T status.Object] struct {
	// Object is the object as read. Its status becomes what the pass observed.
	Object T
	// Before is the object as read or, where a phase has written to it, as last written. The status patch is the difference.
	Before T
	// Now is the time of the pass.
	Now time.Time

	events []event.Event
	// done are those of the events that say what the pass has done.
	done  []event.Event
	after time.Duration
	// resume is how long the object is still paused, 0 if no time ends its pause.
	resume   time.Duration
	released bool
	silent   bool
}

// NewPass returns a pass over the object as it is.
func NewPass[T status.Object](object T, now time.Time) *Pass[T] {
	pass := &Pass[T]{Object: object, Now: now}
	pass.Rebase()
	return pass
}

// Rebase makes the object as it is now the one that the status patch starts from. A phase calls it after it has written something
// other than the status to the object.
func (p *Pass[T]) Rebase() {
	if copied, ok := p.Object.DeepCopyObject().(T); ok {
		p.Before = copied
	}
}

// Tell records events after the status has been written. If that fails, the next pass tells them: they are about how what it finds differs from the
// status.
func (p *Pass[T]) Tell(events ...event.Event) { p.events = append(p.events, events...) }

// Did records events about what the pass has just done, after the status. They are recorded even if the status cannot be written: the next pass finds it
// done, and does not tell of it.
func (p *Pass[T]) Did(events ...event.Event) {
	p.Tell(events...)
	p.done = append(p.done, events...)
}

// LookAgain asks for another pass after that time, lengthened by up to a fifth, even if nothing wakes the object up. Of several
// calls the earliest time counts; 0 asks for nothing.
func (p *Pass[T]) LookAgain(after time.Duration) { p.after = earliest(p.after, after) }

// Release says that the pass has taken the last finalizer of this kind off the object. There is no status left to
// write, and the object is not worked on again, however old the cache is.
func (p *Pass[T]) Release() { p.released = true }

// Silence says that the pass has learned nothing that is worth a status or an event.
func (p *Pass[T]) Silence() { p.silent = true }

// Apply writes into the object the conditions that follow from the marks, from how the pass ended, and from whether the object is
// paused.
func (p *Pass[T]) Apply(marks *status.Marks, outcome Outcome) {
	if status.IsPaused(p.Object) {
		marks.Pause(p.Object)
	}
	outcome.Mark(marks)
	marks.Apply(p.Object, p.Now)
}

// result returns the outcome of the pass for the queue.
func (p *Pass[T]) result(outcome Outcome) (reconcile.Result, error) {
	result, err := outcome.Result()
	if err == nil && !p.released {
		result.RequeueAfter = earliest(earliest(result.RequeueAfter, Jitter(p.after)), p.resume)
	}
	return result, err
}

// earliest returns the shorter of two delays, where 0 means no delay.
func earliest(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// uids remembers objects until the cache shows that they are gone. Its zero value is empty.
type uids struct {
	mu  sync.Mutex
	all map[client.ObjectKey]types.UID
}

func (r *uids) add(object client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[client.ObjectKey]types.UID)
	}
	r.all[client.ObjectKeyFromObject(object)] = object.GetUID()
}

func (r *uids) has(object client.Object) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	uid, ok := r.all[client.ObjectKeyFromObject(object)]
	return ok && uid == object.GetUID()
}

// hasOther reports whether another object of that name was added.
func (r *uids) hasOther(object client.Object) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	uid, ok := r.all[client.ObjectKeyFromObject(object)]
	return ok && uid != object.GetUID()
}

func (r *uids) drop(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, key)
}
