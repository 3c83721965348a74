// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Runner runs at most one operation for an object at a time, and keeps its result until Acknowledge.
type Runner struct {
	now func() time.Time
	// ended is called with the object whose operation has ended.
	ended func(types.NamespacedName)

	mu      sync.Mutex
	byKey   map[types.NamespacedName]*supervised
	closed  bool
	workers sync.WaitGroup
}

// supervised is an operation and how to end it.
type supervised struct {
	Progress

	uid    types.UID
	cancel context.CancelFunc
}

// NewRunner returns a Runner that calls ended with every object whose operation has ended.
func NewRunner(now func() time.Time, ended func(types.NamespacedName)) *Runner {
	return &Runner{now: now, ended: ended, byKey: map[types.NamespacedName]*supervised{}}
}

// Start begins an operation and reports whether it did. It refuses while another operation for the object is running, and after
// Drain. The operation keeps the values of ctx but outlives it.
func (r *Runner) Start(ctx context.Context, key types.NamespacedName, driver machine.Driver, op Operation) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	if last, ok := r.byKey[key]; ok && !last.Done {
		return false
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &supervised{
		Progress: Progress{Operation: op, At: op.Steps[0], Began: r.now()},
		uid:      types.UID(op.Spec.UID), cancel: cancel,
	}
	r.byKey[key] = s
	r.workers.Go(func() {
		defer cancel()
		err := r.run(ctx, driver, s)
		r.mu.Lock()
		s.Done, s.Err = true, err
		r.mu.Unlock()
		r.ended(key)
	})
	return true
}

// Look returns the progress of the object's operation, nil if there is none. An operation for an earlier object of the same name
// does not count.
func (r *Runner) Look(key types.NamespacedName, uid types.UID) *Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.byKey[key]
	if !ok || s.uid != uid {
		return nil
	}
	progress := s.Progress
	return &progress
}

// Cancel ends the object's operation if it is running.
func (r *Runner) Cancel(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.byKey[key]; ok {
		s.end()
	}
}

// Acknowledge drops an operation whose result has been recorded. It drops only the operation that was seen: another one may have
// begun since.
func (r *Runner) Acknowledge(key types.NamespacedName, seen *Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.byKey[key]; ok && s.Done && seen.Ended() && s.Began.Equal(seen.Began) && s.Reason == seen.Reason {
		delete(r.byKey, key)
	}
}

// Forget cancels the operation of an object that is gone, and drops its result.
func (r *Runner) Forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.byKey[key]
	if !ok {
		return
	}
	s.end()
	if s.Done {
		delete(r.byKey, key)
	}
}

// Drain cancels all operations, refuses new ones, and waits until all have ended or ctx does.
func (r *Runner) Drain(ctx context.Context) {
	r.mu.Lock()
	r.closed = true
	for _, s := range r.byKey {
		s.end()
	}
	r.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		r.workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// end cancels the operation if it is running. The Runner's lock is held.
func (s *supervised) end() {
	if !s.Done {
		s.Canceled = true
		s.cancel()
	}
}

// run performs the steps until one fails.
func (r *Runner) run(ctx context.Context, driver machine.Driver, s *supervised) (err error) {
	defer func() {
		// A driver that panics fails its machine, not all machines.
		if problem := recover(); problem != nil {
			err = fmt.Errorf("cannot %s the machine: the driver panicked: %v", s.At, problem)
		}
	}()
	for _, step := range s.Steps {
		r.mu.Lock()
		s.At = step
		r.mu.Unlock()
		if err := r.perform(ctx, driver, s, step); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) perform(ctx context.Context, driver machine.Driver, s *supervised, step Step) error {
	id := s.Spec.Identity
	switch step {
	case Prepare:
		return driver.Prepare(ctx, s.Spec)
	case Create:
		made, err := driver.Create(ctx, s.Spec)
		if err == nil && made.State != machine.StateCreated {
			r.mu.Lock()
			s.Adopted = true
			r.mu.Unlock()
		}
		return err
	case Replace:
		_, err := driver.Replace(ctx, s.Spec, s.PowerOff)
		return err
	case Start, Resume:
		return driver.Start(ctx, id)
	case Suspend:
		return driver.Suspend(ctx, id)
	case Stop:
		return driver.Stop(ctx, id, s.PowerOff)
	case Resize:
		return driver.Resize(ctx, id, s.Spec.Resources)
	case Remove:
		return driver.Delete(ctx, id, s.PowerOff)
	}
	return nil
}
