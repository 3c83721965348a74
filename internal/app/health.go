// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
)

// readiness is true from the moment when the caches have synced until the process is asked to stop. The manager starts it as
// a runnable that needs no leadership, and such runnables start when all caches have synced.
type readiness struct{ ready atomic.Bool }

// Start implements manager.Runnable.
func (r *readiness) Start(ctx context.Context) error {
	r.ready.Store(true)
	<-ctx.Done()
	r.ready.Store(false)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: an instance that waits for leadership is ready too.
func (*readiness) NeedLeaderElection() bool { return false }

// Check implements healthz.Checker.
func (r *readiness) Check(*http.Request) error {
	if !r.ready.Load() {
		return errors.New("the caches have not synced")
	}
	return nil
}
