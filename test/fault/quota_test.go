// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"testing"
)

func TestQuotaFindsWhatTheProcessorsCarry(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		// perLane is the share of all processors that a lane uses.
		perLane     float64
		lanes, want int
	}{
		"the machine carries all":        {perLane: 0.05, lanes: 10, want: 10},
		"the machine carries some":       {perLane: 0.12, lanes: 10, want: 7},
		"the machine carries hardly any": {perLane: 0.5, lanes: 10, want: 6},
		"few were asked for":             {perLane: 0.05, lanes: 2, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQuota(each.lanes, 2)
			var seen []int
			for range 40 {
				q.weigh(max(0, 1-each.perLane*float64(q.now)))
				seen = append(seen, q.now)
			}
			for _, now := range seen[20:] {
				if now != each.want {
					t.Fatalf("the numbers of lanes were %v, want %d in the end", seen, each.want)
				}
			}
			if q.peak != each.want {
				t.Errorf("the peak is %d, want %d", q.peak, each.want)
			}
		})
	}
}

func TestQuotaShrinksWhenRunsGetDearer(t *testing.T) {
	t.Parallel()
	q := newQuota(10, 2)
	for range 10 {
		q.weigh(1)
	}
	for range 3 {
		q.weigh(0)
	}
	if q.now != 7 || q.peak != 10 {
		t.Errorf("%d lanes may work after at most %d, want 7 after 10", q.now, q.peak)
	}
}

func TestStartOfAControlPlaneDoesNotCount(t *testing.T) {
	t.Parallel()
	q := newQuota(10, 2)
	q.weigh(1)
	broken := errors.New("broken")
	err := q.whileStarting(func() error {
		q.weigh(0)
		q.weigh(0)
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("the start ended with %v, want %v", err, broken)
	}
	q.weigh(0) // the start took a part of this time
	if q.now != 7 {
		t.Errorf("%d lanes may work, want 7", q.now)
	}
	q.weigh(0)
	if q.now != 6 {
		t.Errorf("%d lanes may work after a time without a start, want 6", q.now)
	}
}

func TestLaneWaitsUntilItMayWork(t *testing.T) {
	t.Parallel()
	q := newQuota(6, 1)
	admitted := make(chan bool)
	for _, lane := range []int{3, 4} {
		go func() { admitted <- q.await(t.Context(), lane) }()
	}
	for range 2 {
		q.weigh(1)
		if !<-admitted {
			t.Error("a lane was not admitted")
		}
	}
	q.lower(4)
	q.weigh(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if q.await(ctx, 4) || !q.await(ctx, 3) || q.admits(4) {
		t.Error("the fifth of four lanes was admitted, or the fourth was not")
	}
}

func TestProcessorTimesAreRead(t *testing.T) {
	t.Parallel()
	got, err := parseProcessorTimes("cpu  100 20 30 400 50 6 7 8 90 10")
	if want := (processorTimes{idle: 450, all: 621}); err != nil || got != want {
		t.Errorf("read %+v and %v, want %+v", got, err, want)
	}
	for _, line := range []string{"", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3", "cpu 1 2 3 4 5 6 7 -8"} {
		if _, err := parseProcessorTimes(line); err == nil {
			t.Errorf("%q was read", line)
		}
	}
	if _, err := readProcessorTimes(); err != nil {
		t.Error(err)
	}
}
