// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package realnode

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"
)

func TestContainerdThatDoesNotAnswerIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "socket")
	// The kernel accepts connections, and nobody ever reads from them.
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	runtime, err := connect(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(runtime.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := runtime.Healthy(ctx); err == nil {
		t.Error("it is healthy")
	}
	if ctx.Err() != nil {
		t.Error("Healthy waited until it was cancelled")
	}
}
