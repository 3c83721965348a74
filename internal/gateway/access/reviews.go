// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	// maxReviews is how many tokens that nobody has seen before are reviewed at the same time, and perAddress how many of them
	// may come from one address.
	maxReviews = 16
	perAddress = 4
	// reviewWait is how long a token waits for its review.
	reviewWait = 20 * time.Second
)

// reviews bounds how many unknown tokens are reviewed at the same time. An invented token delays other new callers, but
// no caller is refused for their address: behind a proxy, good and invented tokens come from the same one. Each connection holds one
// place in the queue, so the number of connections bounds the delay.
type reviews struct {
	all *semaphore.Weighted

	mu   sync.Mutex
	keys map[string]*turnstile
}

// turnstile is the semaphore of one connection or address, which is forgotten when nobody uses it.
type turnstile struct {
	*semaphore.Weighted

	users int
}

func newReviews() *reviews {
	return &reviews{all: semaphore.NewWeighted(maxReviews), keys: map[string]*turnstile{}}
}

// enter waits until a token of the connection may be reviewed. leave has to follow.
func (r *reviews) enter(ctx context.Context, connection, address string) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, reviewWait)
	defer cancel()
	leaveConnection, err := r.pass(ctx, "connection "+connection, 1)
	if err != nil {
		return nil, err
	}
	leaveAddress, err := r.pass(ctx, "address "+address, perAddress)
	if err != nil {
		leaveConnection()
		return nil, err
	}
	if err := r.all.Acquire(ctx, 1); err != nil {
		leaveAddress()
		leaveConnection()
		return nil, busy()
	}
	return func() {
		r.all.Release(1)
		leaveAddress()
		leaveConnection()
	}, nil
}

// pass waits for a slot of the key.
func (r *reviews) pass(ctx context.Context, key string, slots int64) (leave func(), err error) {
	r.mu.Lock()
	found, ok := r.keys[key]
	if !ok {
		found = &turnstile{Weighted: semaphore.NewWeighted(slots)}
		r.keys[key] = found
	}
	found.users++
	r.mu.Unlock()
	forget := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if found.users--; found.users == 0 {
			delete(r.keys, key)
		}
	}
	if err := found.Acquire(ctx, 1); err != nil {
		forget()
		return nil, busy()
	}
	return func() {
		found.Release(1)
		forget()
	}, nil
}

// busy is the problem of a token whose review was not reached in time.
func busy() *view.Problem {
	out := view.NewProblem(http.StatusServiceUnavailable, "Busy", "The gateway is checking too many unknown tokens. Try again in a second.")
	out.RetryAfter = "1"
	return out.With(view.ParameterSeconds, out.RetryAfter)
}
