// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"math/rand/v2"
	"time"
)

// A host that fails is tried again after the first of these, and less and less often until the last.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// backoff is how long to wait after that many failures in a row.
func backoff(failures int) time.Duration {
	return min(lastRetry, firstRetry<<min(failures-1, 10))
}

// jitter returns d give or take a fifth, so that hosts are not probed in step.
func jitter(d time.Duration) time.Duration {
	return d*4/5 + rand.N(d*2/5+1)
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
