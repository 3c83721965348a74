// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// parting is an API server that has parts of apps. then is called once it has created one, before it answers.
type parting struct {
	then func(plural string)

	mu     sync.Mutex
	exists map[string]bool
}

// ServeHTTP implements http.Handler.
func (p *parting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header().Set("Content-Type", mediaJSON)
	if r.Method == http.MethodDelete {
		delete(p.exists, path.Base(path.Dir(r.URL.Path)))
	} else {
		p.exists[path.Base(r.URL.Path)] = true
		p.then(path.Base(r.URL.Path))
		w.WriteHeader(http.StatusCreated)
	}
	_, _ = fmt.Fprint(w, `{"metadata":{"name":"web","namespace":"shop","uid":"1","resourceVersion":"7"}}`)
}

func (p *parting) has() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.exists)
}

// apps returns an API whose apps are made of these parts.
func apps(t *testing.T, p *parting) *API {
	t.Helper()
	a, _ := listing(t, p.ServeHTTP)
	a.Timeout = time.Minute
	a.deployments, _ = a.Hub.Kind(view.DeploymentsPlural)
	a.services, _ = a.Hub.Kind(view.ServicesPlural)
	return a
}

// TestWhoLeavesCutsNoAppInHalf has a caller who leaves when the API server has made the Service, and before it answers: the Deployment was deleted, and the
// Service stayed.
func TestWhoLeavesCutsNoAppInHalf(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	p := &parting{exists: map[string]bool{}, then: func(plural string) {
		if plural == view.ServicesPlural {
			leave()
		}
	}}
	_, _, err := apps(t, p).createParts(ctx, caller("ann"), &view.App{Name: "web", Namespace: "shop", Image: "web:1"}, "")
	want := map[string]bool{view.DeploymentsPlural: true, view.ServicesPlural: true}
	if diff := cmp.Diff(want, p.has()); diff != "" || err != nil {
		t.Errorf("the app is created: %v; there are (-want +got):\n%s", err, diff)
	}
}

// TestAnAppThatTakesTooLongIsTakenBack has an API server that makes the Service when the time of the request is over: both parts were made after that, and the
// caller read that the connection had broken.
func TestAnAppThatTakesTooLongIsTakenBack(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	p := &parting{exists: map[string]bool{}, then: func(plural string) {
		if plural == view.ServicesPlural {
			<-ctx.Done()
			<-time.After(100 * time.Millisecond) // so that the answer does not come at the same time
		}
	}}
	_, _, err := apps(t, p).createParts(ctx, caller("ann"), &view.App{Name: "web", Namespace: "shop", Image: "web:1"}, "")
	if problem := asProblem(err); err == nil || problem.Status != http.StatusGatewayTimeout || !strings.Contains(problem.Detail, "The Service may exist: DELETE /v1/apps/shop/web deletes") {
		t.Errorf("the problem is %+v", problem)
	}
	if diff := cmp.Diff(map[string]bool{view.ServicesPlural: true}, p.has()); diff != "" {
		t.Errorf("there are (-want +got):\n%s", diff)
	}
}

// TestAPartWhoseAnswerIsLostIsNamed has a connection that breaks when the API server has made a part.
func TestAPartWhoseAnswerIsLostIsNamed(t *testing.T) {
	t.Parallel()
	for lost, want := range map[string]string{
		view.DeploymentsPlural: "The Deployment may exist: DELETE /v1/apps/shop/web deletes", view.ServicesPlural: "The Service may exist: DELETE /v1/apps/shop/web deletes",
	} {
		p := &parting{exists: map[string]bool{}, then: func(plural string) {
			if plural == lost {
				panic(http.ErrAbortHandler)
			}
		}}
		_, _, err := apps(t, p).createParts(t.Context(), caller("ann"), &view.App{Name: "web", Namespace: "shop", Image: "web:1"}, "")
		if problem := asProblem(err); err == nil || problem.Status != http.StatusBadGateway || !strings.Contains(problem.Detail, want) {
			t.Errorf("%s: the problem is %+v", lost, problem)
		}
		if diff := cmp.Diff(map[string]bool{lost: true}, p.has()); diff != "" {
			t.Errorf("%s: there are (-want +got):\n%s", lost, diff)
		}
	}
}
