// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fence keeps an instance that may no longer be the leader from acting. An election alone does not: a process that was frozen
// for longer than its lease goes on where it stopped, beside its successor, until it notices.
//
// The fence knows the lease through the lock of the election, which it wraps. It is open from the moment before the request that
// acquired or renewed the lease was sent, for as long as that lease is valid, less a margin for requests under way. It closes for good
// when the lease names another holder. Transports and drivers ask it before everything that changes something.
package fence

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Fence says whether this instance may act. A nil Fence is always open: it is that of an instance without an election.
type Fence struct {
	lease  time.Duration
	margin time.Duration
	every  time.Duration
	now    func() moment

	mu      sync.Mutex
	renewed *moment // nil while the lease is not held
	deposed bool
	ended   chan struct{} // closed when deposed
}

// New returns a closed fence. The lease is how long a renewal is valid; in its last part, the margin, nothing new is begun. The lease is renewed once
// the last renewal is as old as every, however often the election asks for it.
func New(lease, margin, every time.Duration, now func() time.Time) *Fence {
	begin := now()
	return newFence(lease, margin, every, func() moment {
		at := now()
		return moment{monotonic: at.Sub(begin), wall: at.Round(0)}
	})
}

func newFence(lease, margin, every time.Duration, now func() moment) *Fence {
	return &Fence{lease: lease, margin: margin, every: every, now: now, ended: make(chan struct{})}
}

// moment is what both clocks show. The monotonic clock stands still while a machine sleeps, and the wall clock can be set.
type moment struct {
	monotonic time.Duration
	wall      time.Time
}

// since returns the longer of the times that the clocks show.
func (m moment) since(earlier moment) time.Duration {
	return max(m.monotonic-earlier.monotonic, m.wall.Sub(earlier.wall))
}

// Check returns nil if this instance may act, or an error that says why not.
func (f *Fence) Check() error {
	_, err := f.left()
	return err
}

// Deposed returns a channel that is closed when the lease names another holder. Nothing is allowed from then on.
func (f *Fence) Deposed() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.ended
}

// left returns how long the lease is valid.
func (f *Fence) left() (time.Duration, error) {
	if f == nil {
		return 0, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.deposed:
		return 0, errors.New("another instance holds the lease")
	case f.renewed == nil:
		return 0, errors.New("this instance does not hold the lease")
	}
	age := f.now().since(*f.renewed)
	if age >= f.lease-f.margin {
		return 0, fmt.Errorf("this instance has not renewed its lease for %s", age.Round(time.Second))
	}
	return f.lease - age, nil
}

// Guard returns the lock with the fence around it: what the election reads and writes through it opens and closes the fence.
func (f *Fence) Guard(lock resourcelock.Interface) resourcelock.Interface {
	return &guarded{Interface: lock, fence: f}
}

type guarded struct {
	resourcelock.Interface

	fence *Fence
}

// Get implements resourcelock.Interface.
func (g *guarded) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := g.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != "" && record.HolderIdentity != g.Identity() {
		g.fence.depose()
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (g *guarded) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return g.write(ctx, record, g.Interface.Create)
}

// Update implements resourcelock.Interface. A renewal that would come too early is not written: how often an election renews its lease is
// how often it looks at the lease of another instance, which has to be more often.
func (g *guarded) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == g.Identity() && g.fence.isFresh() {
		return nil
	}
	return g.write(ctx, record, g.Interface.Update)
}

func (g *guarded) write(
	ctx context.Context, record resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	if g.fence.isDeposed() {
		return errors.New("cannot write the lease: another instance holds it")
	}
	if record.HolderIdentity != g.Identity() { // it is given back: nothing may happen after that
		g.fence.set(nil)
		return write(ctx, record)
	}
	sent := g.fence.now()
	if err := write(ctx, record); err != nil {
		return err
	}
	g.fence.set(&sent)
	return nil
}

// isFresh reports whether the lease has just been renewed.
func (f *Fence) isFresh() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.deposed && f.renewed != nil && f.now().since(*f.renewed) < f.every
}

func (f *Fence) isDeposed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.deposed
}

func (f *Fence) set(renewed *moment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.renewed = renewed
}

// depose closes the fence for good if this instance has held the lease. One that waits for its turn is not concerned.
func (f *Fence) depose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renewed != nil && !f.deposed {
		f.deposed = true
		close(f.ended)
	}
}
