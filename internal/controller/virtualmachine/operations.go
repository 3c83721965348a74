// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/machine"
)

// step is one call of a driver.
type step string

// The steps of operations.
const (
	stepPrepare step = "fetch the image of"
	stepCreate  step = "create"
	stepStart   step = "start"
	stepStop    step = "stop"
	stepResize  step = "resize"
	stepRemove  step = "remove"
)

// operation is what a pass wants to be done on a host: steps in order, each of them idempotent, so that an operation that ended
// half-way is simply planned anew.
type operation struct {
	// reason says what for, as the conditions do.
	reason string
	steps  []step
	spec   machine.Spec
	how    machine.PowerOff
	// generation of the object that asked for it.
	generation int64
	// again says that the machine has run before.
	again bool
}

// has reports whether the operation contains the step.
func (o operation) has(s step) bool { return slices.Contains(o.steps, s) }

// progress is how an operation stands.
type progress struct {
	operation

	// at is the step that it is at, or ended at.
	at    step
	done  bool
	began time.Time
	// adopted says that the machine was there before it was created.
	adopted bool
	// err is why it ended early, nil if all steps succeeded.
	err error
	// canceled says that we have ended it.
	canceled bool
}

// running reports whether there is an operation that goes on.
func (p *progress) running() bool { return p != nil && !p.done }

// ended reports whether there is an operation that has ended, and nobody has written down how.
func (p *progress) ended() bool { return p != nil && p.done }

// operations runs what takes long outside of the workers. There is at most one operation for a machine, and what it came to is
// kept until it has been written down.
type operations struct {
	now func() time.Time
	// wake is called with the object whose operation has ended.
	wake func(types.NamespacedName)

	mu      sync.Mutex
	byKey   map[types.NamespacedName]*supervised
	closed  bool
	workers sync.WaitGroup
}

// supervised is an operation with what ends it.
type supervised struct {
	progress

	uid    types.UID
	cancel context.CancelFunc
}

func newOperations(now func() time.Time, wake func(types.NamespacedName)) *operations {
	return &operations{now: now, wake: wake, byKey: map[types.NamespacedName]*supervised{}}
}

// start begins an operation, and reports whether it did: not while another one goes on for that object, and not any more after
// drain. The operation outlives the context, whose values it keeps.
func (o *operations) start(ctx context.Context, key types.NamespacedName, driver machine.Driver, op operation) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	if last, ok := o.byKey[key]; ok && !last.done {
		return false
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &supervised{
		progress: progress{operation: op, at: op.steps[0], began: o.now()},
		uid:      types.UID(op.spec.UID), cancel: cancel,
	}
	o.byKey[key] = s
	o.workers.Go(func() {
		defer cancel()
		err := o.run(ctx, driver, s)
		o.mu.Lock()
		s.done, s.err = true, err
		o.mu.Unlock()
		o.wake(key)
	})
	return true
}

// run does the steps until one fails.
func (o *operations) run(ctx context.Context, driver machine.Driver, s *supervised) (err error) {
	defer func() {
		// A driver that panics fails its machine, not all machines.
		if problem := recover(); problem != nil {
			err = fmt.Errorf("cannot %s the machine: the driver panicked: %v", s.at, problem)
		}
	}()
	for _, next := range s.steps {
		o.mu.Lock()
		s.at = next
		o.mu.Unlock()
		if err := o.perform(ctx, driver, s, next); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (o *operations) perform(ctx context.Context, driver machine.Driver, s *supervised, next step) error {
	id := s.spec.Identity
	switch next {
	case stepPrepare:
		return driver.Prepare(ctx, s.spec)
	case stepCreate:
		made, err := driver.Create(ctx, s.spec)
		if err == nil && made.State != machine.StateCreated {
			o.mu.Lock()
			s.adopted = true
			o.mu.Unlock()
		}
		return err
	case stepStart:
		return driver.Start(ctx, id)
	case stepStop:
		return driver.Stop(ctx, id, s.how)
	case stepResize:
		return driver.Resize(ctx, id, s.spec.Resources)
	case stepRemove:
		return driver.Delete(ctx, id, s.how)
	}
	return nil
}

// look returns how the operation for the object stands, nil if there is none. One for an earlier object of that name is none.
func (o *operations) look(key types.NamespacedName, uid types.UID) *progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.byKey[key]
	if !ok || s.uid != uid {
		return nil
	}
	seen := s.progress
	return &seen
}

// cancel ends the operation for the object, if one goes on. It wakes the object when it has ended.
func (o *operations) cancel(key types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.byKey[key]; ok && !s.done {
		s.canceled = true
		s.cancel()
	}
}

// forget drops an operation that has ended, once what it came to has been written down. It is the one that was looked at: another
// one may have begun since.
func (o *operations) forget(key types.NamespacedName, seen *progress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.byKey[key]; ok && s.done && seen.ended() && s.began.Equal(seen.began) && s.reason == seen.reason {
		delete(o.byKey, key)
	}
}

// drop ends the operation of an object that is gone, and forgets it.
func (o *operations) drop(key types.NamespacedName) {
	o.cancel(key)
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.byKey[key]; ok && s.done {
		delete(o.byKey, key)
	}
}

// drain ends all operations, lets none begin any more, and waits until all have ended or the context does.
func (o *operations) drain(ctx context.Context) {
	o.mu.Lock()
	o.closed = true
	for _, s := range o.byKey {
		if !s.done {
			s.canceled = true
			s.cancel()
		}
	}
	o.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		o.workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
