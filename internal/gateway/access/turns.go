// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// maxWaiting is how many requests of one caller wait for a turn.
const maxWaiting = 32

// Turns bounds how many requests do something costly at the same time: so many of all callers, and one of each. Who asks often waits behind
// themselves, and not in front of others.
type Turns struct {
	gates

	all *semaphore.Weighted
}

// NewTurns returns Turns for so many callers at the same time.
func NewTurns(slots int64) *Turns {
	return &Turns{all: semaphore.NewWeighted(slots)}
}

// Enter waits until it is the turn of the caller's request. leave has to follow.
func (t *Turns) Enter(ctx context.Context, c *Caller) (leave func(), err error) {
	leaveCaller, ok := t.pass(ctx, c.Key(), 1, maxWaiting)
	if !ok {
		return nil, waited()
	}
	if err := t.all.Acquire(ctx, 1); err != nil {
		leaveCaller()
		return nil, waited()
	}
	return func() {
		t.all.Release(1)
		leaveCaller()
	}, nil
}

// waited is the problem of a request whose turn did not come in time.
func waited() *view.Problem {
	return Busy("The gateway has too many requests that read much. Try again in a second.")
}

// Busy is the problem of a request for which there is no room now.
func Busy(detail string) *view.Problem {
	out := view.NewProblem(http.StatusServiceUnavailable, "Busy", detail)
	out.RetryAfter = "1"
	return out.With(view.ParameterSeconds, out.RetryAfter)
}

// gates are semaphores by key.
type gates struct {
	mu   sync.Mutex
	keys map[string]*turnstile
}

// turnstile is the semaphore of one key, which is forgotten when nobody uses it.
type turnstile struct {
	*semaphore.Weighted

	users int
}

// pass waits for a slot of the key; false if the context ends first, or more than so many have or want one. leave has to follow.
func (g *gates) pass(ctx context.Context, key string, slots int64, most int) (leave func(), ok bool) {
	g.mu.Lock()
	if g.keys == nil {
		g.keys = map[string]*turnstile{}
	}
	found, known := g.keys[key]
	if !known {
		found = &turnstile{Weighted: semaphore.NewWeighted(slots)}
		g.keys[key] = found
	}
	if found.users >= most {
		g.mu.Unlock()
		return nil, false
	}
	found.users++
	g.mu.Unlock()
	forget := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if found.users--; found.users == 0 {
			delete(g.keys, key)
		}
	}
	if err := found.Acquire(ctx, 1); err != nil {
		forget()
		return nil, false
	}
	return func() {
		found.Release(1)
		forget()
	}, true
}
