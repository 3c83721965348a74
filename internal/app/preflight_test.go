// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/windlass-operator/windlass/internal/config"
)

// gathering is an API server that answers nothing before it has been asked so many questions.
type gathering struct {
	http.Handler

	mutex   sync.Mutex
	asked   []string
	awaited int
	all     chan struct{}
}

// ServeHTTP implements http.Handler.
func (g *gathering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mutex.Lock()
	g.asked = append(g.asked, path.Base(r.URL.Path))
	if len(g.asked) == g.awaited {
		close(g.all)
	}
	g.mutex.Unlock()
	select {
	case <-g.all:
		g.Handler.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

// forAccount is an API server that answers who the manager's account is, and that it may do everything.
func forAccount(t *testing.T) *http.ServeMux {
	t.Helper()
	a := newAuthorizer(t)
	a.grantEverything()
	answers := http.NewServeMux()
	answers.Handle("/apis/authorization.k8s.io/", a)
	answers.HandleFunc("/apis/authentication.k8s.io/", saying(http.StatusCreated, `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview",`+
		`"status":{"userInfo":{"username":"system:serviceaccount:windlass-system:windlass"}}}`))
	return answers
}

// A start asked for the rights, the Lease and its own name one after the other, and a takeover waited for each answer.
func TestAStartAsksAboutItsAccountAtTheSameTime(t *testing.T) {
	t.Parallel()
	answers := forAccount(t)
	answers.HandleFunc("/apis/coordination.k8s.io/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, r.Body)
	})
	server := &gathering{Handler: answers, awaited: 4, all: make(chan struct{})}
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)

	conf := config.Default(controllerNames()...)
	conf.LeaseLockNamespace = "windlass-system"
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(coordinationv1.SchemeGroupVersion.WithKind("Lease"), meta.RESTScopeNamespace)
	found, err := checkAccount(t.Context(), speakingJSON(listening.URL), mapper, &conf, controllers(), logr.Discard())
	if want := "--serviceaccount=windlass-system:windlass"; err != nil || found.subject != want {
		t.Errorf("the account is %q, want %q: %v", found.subject, want, err)
	}
	slices.Sort(server.asked)
	if diff := cmp.Diff([]string{"leases", "selfsubjectreviews", "selfsubjectrulesreviews", "selfsubjectrulesreviews"}, server.asked); diff != "" {
		t.Errorf("was asked (-want +got):\n%s", diff)
	}
}
