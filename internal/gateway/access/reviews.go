// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"math"
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
	gates

	all *semaphore.Weighted
}

func newReviews() *reviews { return &reviews{all: semaphore.NewWeighted(maxReviews)} }

// enter waits until a token of the connection may be reviewed. leave has to follow.
func (r *reviews) enter(ctx context.Context, connection, address string) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, reviewWait)
	defer cancel()
	leaveConnection, ok := r.pass(ctx, "connection "+connection, 1, math.MaxInt)
	if !ok {
		return nil, busy()
	}
	leaveAddress, ok := r.pass(ctx, "address "+address, perAddress, math.MaxInt)
	if !ok {
		leaveConnection()
		return nil, busy()
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

// busy is the problem of a token whose review was not reached in time.
func busy() *view.Problem {
	return Busy("The gateway is checking too many unknown tokens. Try again in a second.")
}
