// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestFaultsDoNotWaitForWhatTakesLong(t *testing.T) {
	t.Parallel()
	known, played := atomic.Int32{}, make(chan struct{})
	beside := []job{func(ctx context.Context, _ *lane) error {
		select {
		case <-played:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	first := make([]job, 5)
	for i := range first {
		first[i] = func(context.Context, *lane) error {
			known.Add(1)
			return nil
		}
	}
	err := inTurn(t.Context(), []*lane{{}, {}}, beside, first, func() []job {
		if known := int(known.Load()); known != len(first) {
			t.Errorf("the faults came when %d of %d scenarios were known", known, len(first))
		}
		return []job{func(context.Context, *lane) error {
			close(played)
			return nil
		}}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAnErrorEndsTheLanes(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fails := func(context.Context, *lane) error { return broken }
	err := inTurn(t.Context(), []*lane{{}, {}}, nil, []job{fails, fails, fails, fails}, func() []job {
		t.Error("faults are played although what they are compared with is not known")
		return nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("it ended with %v, want %v", err, broken)
	}
}
