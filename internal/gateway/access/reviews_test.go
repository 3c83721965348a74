// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
)

// TestAttackGuessesHoldUpOthersOfTheAddress has connections that wait with a thousand guesses each, and one that comes later from
// the same address: it waits for one of each at most.
func TestAttackGuessesHoldUpOthersOfTheAddress(t *testing.T) {
	t.Parallel()
	// In a bubble, everybody has taken their place before the next review ends: the scheduler has no say in who comes first.
	synctest.Test(t, func(t *testing.T) {
		r := newReviews()
		const guessers, guesses = 8, 1000
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		work := make(chan struct{}) // a review ends when it gets one
		for guesser := range guessers {
			for range guesses {
				running.Go(func() {
					leave, err := r.enter(ctx, fmt.Sprintf("proxy:%d", guesser), "proxy")
					if err != nil {
						return
					}
					defer leave()
					select {
					case <-work:
					case <-ctx.Done():
					}
				})
			}
		}
		synctest.Wait()
		through := false
		running.Go(func() {
			leave, err := r.enter(ctx, "proxy:new", "proxy")
			if err != nil {
				t.Errorf("the new one is refused: %v", err)
				return
			}
			through = true
			leave()
		})
		synctest.Wait()
		elsewhere, err := r.enter(ctx, "other:1", "other")
		if err != nil {
			t.Fatalf("another address waits: %v", err)
		}
		elsewhere()
		reviewed := 0
		for ; !through && reviewed <= guessers; reviewed++ {
			work <- struct{}{}
			synctest.Wait()
		}
		if !through {
			t.Errorf("it still waits after %d reviews of others", reviewed)
		}
	})
}

func TestReviewsForgetWhoHasLeft(t *testing.T) {
	t.Parallel()
	r := newReviews()
	leave, err := r.enter(t.Context(), "a:1", "a")
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.enter(gone, "a:1", "a"); err == nil {
		t.Error("a connection has two reviews")
	}
	leave()
	if len(r.keys) != 0 {
		t.Errorf("it still knows %v", r.keys)
	}
}
