// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"testing"
	"time"
)

// Eventually waits until check holds. It is for what happens by itself, such as a cache that catches up, or programs that start on a busy machine.
func Eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-ctx.Done():
			t.Fatalf("gave up waiting until %s", what)
		case <-tick.C:
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
