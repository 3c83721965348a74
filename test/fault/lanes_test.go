// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"
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
	err := inTurn(t.Context(), []*lane{{}, {}}, turns{beside: beside, groups: []group{{first: first, then: func() (all, few []job) {
		if known := int(known.Load()); known != len(first) {
			t.Errorf("the faults came when %d of %d scenarios were known", known, len(first))
		}
		return []job{func(context.Context, *lane) error {
			close(played)
			return nil
		}}, nil
	}}}})
	if err != nil {
		t.Error(err)
	}
}

func TestGroupsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	played := make(chan struct{})
	slow := func(ctx context.Context, _ *lane) error {
		select {
		case <-played:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	quick := func(context.Context, *lane) error { return nil }
	var after atomic.Bool
	err := inTurn(t.Context(), []*lane{{}, {}}, turns{groups: []group{
		{first: []job{slow}, then: func() (all, few []job) {
			return []job{func(context.Context, *lane) error { after.Store(true); return nil }}, nil
		}},
		{first: []job{quick, quick}, then: func() (all, few []job) {
			return []job{func(context.Context, *lane) error { close(played); return nil }}, nil
		}},
	}})
	if err != nil || !after.Load() {
		t.Errorf("the jobs after the slow one were done: %t, and it ended with %v", after.Load(), err)
	}
}

func TestAnErrorEndsTheLanes(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fails := func(context.Context, *lane) error { return broken }
	err := inTurn(t.Context(), []*lane{{}, {}}, turns{groups: []group{{first: []job{fails, fails}, then: func() (all, few []job) {
		t.Error("faults are played although what they are compared with is not known")
		return nil, nil
	}}}})
	if !errors.Is(err, broken) {
		t.Errorf("it ended with %v, want %v", err, broken)
	}
}

func TestFewLanesDoWhatIsMadeOnceForEachLane(t *testing.T) {
	t.Parallel()
	lanes := make([]*lane, 9)
	for i := range lanes {
		lanes[i] = &lane{runs: i}
	}
	const others, own = 30, 20
	var begun, done atomic.Int32
	other := func(context.Context, *lane) error {
		begun.Add(1)
		done.Add(1)
		return nil
	}
	onFew := func(_ context.Context, l *lane) error {
		// A lane that has got a job may not have counted it yet.
		if l.runs >= len(lanes)/fewLanes && int(begun.Load()) < others-len(lanes) {
			t.Errorf("lane %d of %d did it", l.runs, len(lanes))
		}
		done.Add(1)
		return nil
	}
	err := inTurn(t.Context(), lanes, turns{groups: []group{{then: func() (all, few []job) {
		return slices.Repeat([]job{other}, others), slices.Repeat([]job{onFew}, own)
	}}}})
	if err != nil || done.Load() != others+own {
		t.Errorf("%d of %d jobs were done, and it ended with %v", done.Load(), others+own, err)
	}
}

func TestLanesRestWhileThereIsSomethingToDo(t *testing.T) {
	t.Parallel()
	lanes := make([]*lane, 6)
	for i := range lanes {
		lanes[i] = &lane{runs: i}
	}
	var begun atomic.Int32
	together := make(chan struct{})
	// Each waits until all lanes are at work.
	wait := func(ctx context.Context, _ *lane) error {
		if int(begun.Add(1)) == len(lanes) {
			close(together)
		}
		select {
		case <-together:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := inTurn(ctx, lanes, turns{groups: []group{{then: func() (all, few []job) { return nil, slices.Repeat([]job{wait}, len(lanes)) }}}})
	if err != nil {
		t.Errorf("%d of %d lanes work, and it ended with %v", begun.Load(), len(lanes), err)
	}
}

func TestLanesThatAreNeverAdmittedEndWithTheWork(t *testing.T) {
	t.Parallel()
	q := newQuota(5, 1)
	lanes := make([]*lane, 5)
	for i := range lanes {
		lanes[i] = &lane{number: i}
	}
	var done atomic.Int32
	err := inTurn(t.Context(), lanes, turns{
		groups: []group{{then: func() (all, few []job) {
			return slices.Repeat([]job{func(_ context.Context, l *lane) error {
				if !q.admits(l.number) {
					t.Errorf("lane %d worked", l.number)
				}
				done.Add(1)
				return nil
			}}, 30), nil
		}}},
		admit: func(ctx context.Context, l *lane) (bool, error) { return q.await(ctx, l.number), nil },
	})
	if err != nil || done.Load() != 30 {
		t.Errorf("%d of 30 jobs were done, and it ended with %v", done.Load(), err)
	}
}

func TestErrorWhileALaneIsAdmittedEndsTheLanes(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	err := inTurn(t.Context(), []*lane{{}, {number: 1}}, turns{
		groups: []group{{then: func() (all, few []job) { return nil, nil }}},
		admit: func(_ context.Context, l *lane) (bool, error) {
			if l.number == 0 {
				return false, broken
			}
			return true, nil
		},
	})
	if !errors.Is(err, broken) {
		t.Errorf("it ended with %v, want %v", err, broken)
	}
}
