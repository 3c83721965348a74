// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"runtime"
	"testing"
	"time"
)

func TestHowMuchGarbageMayPileUp(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		percent int
		since   time.Duration
		want    int
	}{
		"a busy manager":                        {percent: 100, since: time.Second, want: 100},
		"it comes to rest":                      {percent: 100, since: time.Minute, want: 50},
		"it has come to rest a while ago":       {percent: 50, since: time.Minute, want: 25},
		"it rests":                              {percent: 25, since: 2 * time.Minute, want: 25},
		"it becomes busy":                       {percent: 25, since: time.Second, want: 100},
		"it does something":                     {percent: 50, since: 10 * time.Second, want: 50},
		"half of the garbage is half the time":  {percent: 50, since: restInterval/2 + 1, want: 50},
		"and a quarter of what is between them": {percent: 25, since: restInterval/4 + 1, want: 25},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := nextPercent(tc.percent, tc.since); got != tc.want {
				t.Errorf("%d %% after %s at %d %%, want %d %%", got, tc.since, tc.percent, tc.want)
			}
		})
	}
}

// TestTheCollectorIsPaced collects garbage in earnest: by the clock of the test, first at rest and then in haste.
func TestTheCollectorIsPaced(t *testing.T) {
	t.Parallel()
	asked, clock, set := make(chan struct{}), make(chan time.Time), make(chan int, 1)
	c := &collector{
		now: func() time.Time {
			select {
			case asked <- struct{}{}:
				return <-clock
			case <-t.Context().Done():
				return time.Time{}
			}
		},
		set: func(percent int) { set <- percent }, percent: busyGarbage,
	}
	c.await()
	now := time.Time{}
	for _, step := range []struct {
		since time.Duration
		want  int
	}{{time.Minute, 50}, {time.Minute, restGarbage}, {time.Second, busyGarbage}} {
		collect(t, asked)
		now = now.Add(step.since)
		clock <- now
		if got := <-set; got != step.want {
			t.Fatalf("%d %% after a collection %s after the one before, want %d %%", got, step.since, step.want)
		}
	}
}

// collect collects garbage until the collector has noticed it: an object that was made during a collection is found by the one after it.
func collect(t *testing.T, noticed <-chan struct{}) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		runtime.GC()
		select {
		case <-noticed:
			return
		case <-again.C:
		case <-t.Context().Done():
			t.Fatal("no collection has been noticed")
		}
	}
}
