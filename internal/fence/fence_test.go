// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fence_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/windlass-operator/windlass/internal/fence"
	"github.com/windlass-operator/windlass/internal/testkit"
)

const (
	lease  = 15 * time.Second
	margin = 3 * time.Second
	every  = 2 * time.Second
)

// lock is a lease that takes what is written, unless it has an error to return.
type lock struct {
	resourcelock.Interface

	record resourcelock.LeaderElectionRecord
	err    error
	writes int
}

func (l *lock) Identity() string { return "me" }

func (l *lock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return new(l.record), nil, l.err
}

func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, record)
}

func (l *lock) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	l.writes++
	if l.err == nil {
		l.record = record
	}
	return l.err
}

// stage is a fence around a lock, and the clock of both.
type stage struct {
	*fence.Fence

	clock *testkit.Clock
	lock  *lock
	guard resourcelock.Interface
}

func newStage() *stage {
	s := &stage{clock: testkit.NewClock(), lock: &lock{}}
	s.Fence = fence.New(lease, margin, every, s.clock.Now)
	s.guard = s.Guard(s.lock)
	return s
}

func (s *stage) renew() {
	_ = s.guard.Update(context.Background(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"})
}
func (s *stage) read() { _, _, _ = s.guard.Get(context.Background()) }
func (s *stage) give() { _ = s.guard.Update(context.Background(), resourcelock.LeaderElectionRecord{}) }

func (s *stage) taken() {
	s.lock.record.HolderIdentity = "another"
	s.read()
}

func TestFence(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		history func(s *stage)
		want    string
		deposed bool
	}{
		"closed before the lease is held": {
			history: func(*stage) {}, want: "this instance does not hold the lease",
		},
		"open once the lease is held": {
			history: func(s *stage) { s.renew() },
		},
		"open until the margin of the lease": {
			history: func(s *stage) { s.renew(); s.clock.Step(lease - margin - 1) },
		},
		"closed in the margin": {
			history: func(s *stage) { s.renew(); s.clock.Step(lease - margin) },
			want:    "this instance has not renewed its lease for 12s",
		},
		"a renewal opens it again": {
			history: func(s *stage) { s.renew(); s.clock.Step(time.Hour); s.renew() },
		},
		"a renewal that failed does not": {
			history: func(s *stage) { s.renew(); s.clock.Step(lease); s.lock.err = errors.New("timeout"); s.renew() },
			want:    "this instance has not renewed its lease for 15s",
		},
		"closed once the lease is given back": {
			history: func(s *stage) { s.renew(); s.give() }, want: "this instance does not hold the lease",
		},
		"closed for good once another holds it": {
			history: func(s *stage) { s.renew(); s.taken(); s.renew() },
			want:    "another instance holds the lease", deposed: true,
		},
		"waiting for another to give it back is no deposition": {
			history: func(s *stage) { s.taken(); s.lock.record.HolderIdentity = ""; s.renew() },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			tc.history(s)
			got := ""
			if err := s.Check(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("the answer differs (-want +got):\n%s", diff)
			}
			select {
			case <-s.Deposed():
				if !tc.deposed {
					t.Error("deposed")
				}
			default:
				if tc.deposed {
					t.Error("not deposed")
				}
			}
		})
	}
}

func TestADeposedInstanceWritesNoLease(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.renew()
	s.taken()
	s.give()
	if s.lock.writes != 1 || s.lock.record.HolderIdentity != "another" {
		t.Errorf("%d writes, the lease names %q", s.lock.writes, s.lock.record.HolderIdentity)
	}
}

// TestALeaseWasRenewedAsOftenAsItIsLookedAt: twice a second, which was most of what a manager did while nothing happened.
func TestALeaseWasRenewedAsOftenAsItIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newStage()
	const look = 500 * time.Millisecond
	for range 20 {
		s.renew()
		s.clock.Step(look)
	}
	if want := int(20 * look / every); s.lock.writes != want {
		t.Errorf("in ten seconds the lease was renewed %d times, want %d", s.lock.writes, want)
	}
	s.renew()
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	s.give() // at once, however fresh the lease is
	if s.lock.record.HolderIdentity != "" {
		t.Errorf("the lease still names %q", s.lock.record.HolderIdentity)
	}
}

// TestAFailedRenewalIsRepeatedAtOnce: only a renewal that was written may be left out the next time.
func TestAFailedRenewalIsRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.renew()
	s.clock.Step(every)
	s.lock.err = errors.New("timeout")
	s.renew()
	s.renew()
	if s.lock.writes != 3 {
		t.Errorf("there were %d writes, want 3", s.lock.writes)
	}
}

func TestOnlyReadsPassAClosedFence(t *testing.T) {
	t.Parallel()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Method) }))
	t.Cleanup(server.Close)
	s := newStage()
	client := &http.Client{Transport: s.Transport(http.DefaultTransport)}
	all := []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	send := func(method string) error {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/api", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	for _, method := range all {
		err := send(method)
		if reads := method == http.MethodGet || method == http.MethodHead; reads != (err == nil) {
			t.Errorf("%s ended with %v", method, err)
		}
	}
	s.renew()
	for _, method := range all {
		if err := send(method); err != nil {
			t.Errorf("with the lease, %s ended with %v", method, err)
		}
	}
	if diff := cmp.Diff(append([]string{http.MethodGet, http.MethodHead}, all...), got); diff != "" {
		t.Errorf("requests differ (-want +got):\n%s", diff)
	}
}

func TestWithoutAnElectionEverythingPasses(t *testing.T) {
	t.Parallel()
	var none *fence.Fence
	if err := none.Check(); err != nil || none.Transport(http.DefaultTransport) != http.DefaultTransport || none.Deposed() != nil {
		t.Errorf("an instance without an election is fenced: %v", err)
	}
}
