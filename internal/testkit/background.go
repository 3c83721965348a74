// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"sync"
	"testing"
)

// Background runs what a manager would run, or a manager itself, beside the test. It ends when the returned function is called, or
// else with the test, and is waited for. The test fails if it does.
func Background(t *testing.T, start func(ctx context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-stopped; err != nil {
			t.Errorf("what ran in the background failed: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}
