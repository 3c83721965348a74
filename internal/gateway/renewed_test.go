// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/gateway/client"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// TestAttackFormerGroupsGoOnReading has a user who leaves a group while a stream and a log are open. Their token is the same, and the review of it
// is not.
func TestAttackFormerGroupsGoOnReading(t *testing.T) {
	t.Parallel()
	var left atomic.Bool
	r := standIn(t, reviews{
		groups: func(string) ([]string, bool) {
			if left.Load() {
				return nil, true
			}
			return []string{"admins"}, true
		},
		allowed: func(groups []string) bool { return slices.Contains(groups, "admins") },
	}, map[string]http.HandlerFunc{"GET /api/v1/namespaces/shop/pods/web/log": quiet("one\n")}, Options{})
	must(t, r.kind(t, view.ServicesPlural).Store.Replace([]any{object("Service", "shop", "web", 1)}, "1"))
	f := r.follow(t, "token", "", "", view.ServicesPlural)
	f.until("the snapshot", done)
	status, body := r.eventSource(t, "/v1/pods/shop/web/logs?follow=true", "Authorization", "Bearer token")
	if status != http.StatusOK {
		t.Fatalf("the log is answered %d", status)
	}
	log := linesOf(t, body)
	log.until("one")
	left.Store(true)
	f.until("the end of their rights", func(e client.Event) bool { return e.Name == client.EventDenied && e.Kind == view.ServicesPlural })
	for range f.events { // which ends, because nothing is left to see
	}
	for line := range log.lines { // which ends
		t.Errorf("without the right the log goes on: %q", line)
	}
}

// quiet is the log of a container that has written the text and goes on without a line.
func quiet(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.WriteString(w, text)
		if http.NewResponseController(w).Flush() == nil {
			<-request.Context().Done()
		}
	}
}

// TestAttackTimesTellWhatExists reads an object and one that there is not, without the right to. Only for the first one the rights used to be
// asked for, which takes its time.
func TestAttackTimesTellWhatExists(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	r := standIn(t, reviews{
		groups: func(string) ([]string, bool) { return nil, true },
		allowed: func([]string) bool {
			asked.Add(1)
			return false
		},
	}, map[string]http.HandlerFunc{"GET /api/v1/services": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }}, Options{})
	must(t, r.kind(t, view.ServicesPlural).Store.Replace([]any{object("Service", "shop", "web", 1)}, "1"))
	reviewed := map[string]int32{}
	for _, name := range []string{"web", "absent"} {
		before := asked.Load()
		r.do(t, http.MethodGet, "/v1/services/shop/"+name, "annas-own", "")
		reviewed[name] = asked.Load() - before
	}
	if diff := cmp.Diff(map[string]int32{"web": 1, "absent": 1}, reviewed); diff != "" {
		t.Errorf("reviews (-want +got):\n%s", diff)
	}
}
