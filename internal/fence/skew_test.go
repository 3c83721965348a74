// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// renewable is a lease that can always be renewed.
type renewable struct{ resourcelock.Interface }

func (renewable) Identity() string { return "me" }

func (renewable) Update(context.Context, resourcelock.LeaderElectionRecord) error { return nil }

// sent counts the requests that pass the fence.
type sent int

// RoundTrip implements http.RoundTripper.
func (s *sent) RoundTrip(*http.Request) (*http.Response, error) {
	*s++
	return &http.Response{Body: http.NoBody}, nil
}

// A leader whose clock is wrong after its last renewal sends no write once its lease may be another's.
func TestSkewedClockSendsNoWriteAfterTheLease(t *testing.T) {
	t.Parallel()
	const lease, margin = 15 * time.Second, 3 * time.Second
	runs := func(passed time.Duration) time.Duration { return passed }
	stands := func(time.Duration) time.Duration { return 0 }
	set := func(by time.Duration) func(time.Duration) time.Duration {
		return func(passed time.Duration) time.Duration {
			if passed < time.Second {
				return passed
			}
			return passed + by // set after a second
		}
	}
	for sentence, test := range map[string]struct {
		// monotonic and wall are what the clocks show of the time that has passed since the renewal.
		monotonic, wall func(time.Duration) time.Duration
		// last is how long writes may be sent.
		last time.Duration
	}{
		"both clocks are right":                     {runs, runs, lease - margin},
		"the wall clock stands still":               {runs, stands, lease - margin},
		"the wall clock is set back by an hour":     {runs, set(-time.Hour), lease - margin},
		"the wall clock is set forward by an hour":  {runs, set(time.Hour), time.Second},
		"the wall clock is set back by five years":  {runs, set(-5 * 365 * 24 * time.Hour), lease - margin},
		"the wall clock is set forward by a second": {runs, set(time.Second), lease - margin - time.Second},
		"the machine sleeps":                        {stands, runs, lease - margin},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var passed time.Duration
			renewed := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
			f := newFence(lease, margin, 0, func() moment {
				return moment{monotonic: time.Hour + test.monotonic(passed), wall: renewed.Add(test.wall(passed))}
			})
			record := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
			if err := f.Guard(renewable{}).Update(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			var out sent
			transport := f.Transport(&out)
			for ; passed < 2*lease; passed += 100 * time.Millisecond {
				before := out
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "http://127.0.0.1/api", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				response, err := transport.RoundTrip(request)
				if err == nil {
					err = response.Body.Close()
				}
				if open := passed < test.last; open != (out > before) || open != (err == nil) || open != (f.Check() == nil) {
					t.Fatalf("%s after the renewal: sent %t (%v), want %t", passed, out > before, err, open)
				}
			}
		})
	}
}
