// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func event(kind, name string, version int) string {
	return fmt.Sprintf(`{"type":%q,"object":{"metadata":{"name":%q,"resourceVersion":"%d"}}}`+"\n", kind, name, version)
}

func TestMergedEvents(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ events, want []string }{
		"the last change of each object is left": {
			events: []string{event("MODIFIED", "a", 1), event("MODIFIED", "b", 2), event("MODIFIED", "a", 3)},
			want:   []string{event("MODIFIED", "b", 2), event("MODIFIED", "a", 3)},
		},
		"a new object that changed is new": {
			events: []string{event("ADDED", "a", 1), event("MODIFIED", "a", 2)}, want: []string{event("ADDED", "a", 2)},
		},
		"an object that came and went was never there": {
			events: []string{event("ADDED", "a", 1), event("DELETED", "a", 2), event("BOOKMARK", "", 3)},
			want:   []string{event("BOOKMARK", "", 3)},
		},
		"an object that was replaced has changed": {
			events: []string{event("DELETED", "a", 1), event("ADDED", "a", 2)}, want: []string{event("MODIFIED", "a", 2)},
		},
		"an object that changed and went has gone": {
			events: []string{event("MODIFIED", "a", 1), event("DELETED", "a", 2)}, want: []string{event("DELETED", "a", 2)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines [][]byte
			for _, e := range tc.events {
				lines = append(lines, []byte(e))
			}
			if diff := cmp.Diff(strings.Join(tc.want, ""), join(lastOfEach(lines))); diff != "" {
				t.Errorf("events differ (-want +got):\n%s", diff)
			}
		})
	}
}

func join(lines [][]byte) string {
	var out strings.Builder
	for _, line := range lines {
		out.Write(line)
	}
	return out.String()
}

func TestALagTakesCollectionsBackInTime(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		target string
		want   string
		status int
	}{
		"a list": {
			target: "/api/v1/nodes?limit=500&resourceVersion=0", status: http.StatusOK,
			want: "/api/v1/nodes?limit=500&resourceVersion=7&resourceVersionMatch=Exact",
		},
		"a list of a namespace": {
			target: "/apis/apps/v1/namespaces/default/deployments?resourceVersion=0", status: http.StatusOK,
			want: "/apis/apps/v1/namespaces/default/deployments?resourceVersion=7&resourceVersionMatch=Exact",
		},
		"a list that has to be of the present": {
			target: "/api/v1/nodes?limit=500", status: http.StatusOK, want: "/api/v1/nodes?limit=500",
		},
		"one object is read from the present": {target: "/api/v1/nodes/a", status: http.StatusOK, want: "/api/v1/nodes/a"},
		"discovery is that of the present":    {target: "/apis/apps/v1", status: http.StatusOK, want: "/apis/apps/v1"},
		"a list by watch is refused": {
			target: "/api/v1/nodes?watch=true&sendInitialEvents=true", status: http.StatusUnprocessableEntity,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			p := &proxy{forward: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.URL.String() })}
			newLag(p).travel("7")
			answer := httptest.NewRecorder()
			p.forward.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.target, http.NoBody))
			if got != tc.want || answer.Code != tc.status {
				t.Errorf("the API server was asked for %q and the answer is %d, want %q and %d", got, answer.Code, tc.want, tc.status)
			}
		})
	}
}

func TestALagHoldsEventsBack(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	p := &proxy{}
	var l *lag
	p.forward = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		write := func(text string) {
			if _, err := w.Write([]byte(text)); err != nil {
				t.Error(err)
			}
		}
		first, second := event("MODIFIED", "a", 1), event("MODIFIED", "a", 2)
		write(first[:10])
		write(first[10:])
		l.hold()
		write(second)
		if diff := cmp.Diff(first, answer.Body.String()); diff != "" {
			t.Errorf("while events are held back (-want +got):\n%s", diff)
		}
		l.release(false)
		if diff := cmp.Diff(first+second, answer.Body.String()); diff != "" {
			t.Errorf("afterwards (-want +got):\n%s", diff)
		}
	})
	l = newLag(p)
	p.forward.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/nodes?watch=true", http.NoBody))
}

// What Windlass made is seen before what it was made for, and after a release both are.
func TestALagLetsTheKindsOfWindlassCatchUpLast(t *testing.T) {
	t.Parallel()
	p := &proxy{}
	var l *lag
	held := func(path string) (before, after string) {
		answer := httptest.NewRecorder()
		p.forward = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			l.travel("7")
			if _, err := w.Write([]byte(event("MODIFIED", "a", 1))); err != nil {
				t.Error(err)
			}
			l.catchUp()
			before = answer.Body.String()
			l.release(false)
			after = answer.Body.String()
		})
		l = newLag(p)
		p.forward.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path+"?watch=true", http.NoBody))
		return before, after
	}
	all := event("MODIFIED", "a", 1)
	if before, after := held("/api/v1/nodes"); before != all || after != all {
		t.Errorf("nodes are seen as %q and then as %q", before, after)
	}
	if before, after := held("/apis/nodes.lailin.xyz/v1/nodepools"); before != "" || after != all {
		t.Errorf("pools are seen as %q and then as %q", before, after)
	}
}

// What comes while events that were kept back are about to be sent comes after them.
func TestALagKeepsTheOrderOfEvents(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	p := &proxy{}
	var l *lag
	p.forward = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		write := func(text string) {
			if _, err := w.Write([]byte(text)); err != nil {
				t.Error(err)
			}
		}
		l.hold()
		write(event("MODIFIED", "a", 1))
		l.held = nil // as at the beginning of a release
		write(event("MODIFIED", "a", 2))
		l.release(false)
		write(event("MODIFIED", "a", 3))
	})
	l = newLag(p)
	p.forward.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/nodes?watch=true", http.NoBody))
	if diff := cmp.Diff(event("MODIFIED", "a", 1)+event("MODIFIED", "a", 2)+event("MODIFIED", "a", 3), answer.Body.String()); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
}
