// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDecideAnew(t *testing.T) {
	t.Parallel()
	lost, refused := errors.New("the object has changed"), errors.New("refused")
	tests := map[string]struct {
		outdated int // calls that find the object changed
		then     error
		calls    int
		want     error
		waits    [2]time.Duration
	}{
		"nobody else writes":       {0, nil, 1, nil, [2]time.Duration{0, 0}},
		"it is refused at once":    {0, refused, 1, refused, [2]time.Duration{0, 0}},
		"others write twice":       {2, nil, 3, nil, [2]time.Duration{30 * time.Millisecond, 60 * time.Millisecond}},
		"it is refused afterwards": {1, refused, 2, refused, [2]time.Duration{10 * time.Millisecond, 20 * time.Millisecond}},
		"others never stop":        {99, nil, 8, lost, [2]time.Duration{1270 * time.Millisecond, 2540 * time.Millisecond}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls, begun := 0, time.Now()
				err := DecideAnew(func() (bool, error) {
					if calls++; calls <= test.outdated {
						return true, lost
					}
					return false, test.then
				})
				waited := time.Since(begun)
				if calls != test.calls || !errors.Is(err, test.want) || waited < test.waits[0] || waited > test.waits[1] {
					t.Errorf("%d calls within %v, and %v", calls, waited, err)
				}
			})
		})
	}
}
