// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/clock"
)

// TestAWaitEndsAlthoughItsClockWasAhead: an instance whose clock was an hour ahead wrote down times for which the next one waited an hour.
func TestAWaitEndsAlthoughItsClockWasAhead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		at   time.Duration
		want time.Duration
	}{
		"it has just begun":                       {5 * time.Minute, 5 * time.Minute},
		"it has almost ended":                     {time.Second, time.Second},
		"it has ended":                            {0, 0},
		"it ended long ago":                       {-time.Hour, 0},
		"another clock is a little ahead":         {5*time.Minute + 30*time.Second, 5*time.Minute + 30*time.Second},
		"it began an hour later, as it seems":     {65 * time.Minute, 0},
		"it began two minutes later, as it seems": {7 * time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := clock.Left(now.Add(test.at), 5*time.Minute, now); got != test.want {
				t.Errorf("%s are left, want %s", got, test.want)
			}
		})
	}
}
