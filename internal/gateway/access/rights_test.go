// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// tide counts the reviews in namespaces that run at the same time.
type tide struct {
	mu            sync.Mutex
	running, most int
}

// review is a reviewer that says no.
func (c *tide) review(_ context.Context, _ *Caller, what request) (no authorizationv1.SubjectAccessReviewStatus, err error) {
	if what.namespace == "" {
		return no, nil
	}
	c.mu.Lock()
	c.running++
	c.most = max(c.most, c.running)
	c.mu.Unlock()
	runtime.Gosched()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	return no, nil
}

// TestAttackRightsWithoutEnd has a caller who asks for their rights in many namespaces, again and again at the same time. Each request used to send its
// reviews beside those of the others.
func TestAttackRightsWithoutEnd(t *testing.T) {
	t.Parallel()
	reviews := &tide{}
	r := &Rights{kinds: view.Kinds(), matrices: NewTurns(maxMatrices), answers: utilcache.NewLRUExpireCache(maxAnswers), review: reviews.review}
	var asking sync.WaitGroup
	for i := range 20 {
		asking.Go(func() {
			namespaces := []string{strconv.Itoa(i), "shop"}
			if got, err := r.Matrix(t.Context(), &Caller{User: &user.DefaultInfo{Name: "ann"}}, namespaces); err != nil || len(got.Namespaces) != len(namespaces) {
				t.Errorf("the rights are %+v: %v", got, err)
			}
		})
	}
	asking.Wait()
	if reviews.most > askers {
		t.Errorf("%d reviews of one caller run at the same time, want at most %d", reviews.most, askers)
	}
}

// TestAttackScopesWithoutEnd has an account without rights that asks for all that it may list, with many tokens of its own at the same time. Each question
// used to send its reviews beside those of the others, and the answer about one token was not that about another.
func TestAttackScopesWithoutEnd(t *testing.T) {
	t.Parallel()
	reviews := &tide{}
	var namespaces []string
	for i := range 2 * askers {
		namespaces = append(namespaces, strconv.Itoa(i))
	}
	r := &Rights{
		kinds: view.Kinds(), surveys: NewTurns(maxSurveys), scopes: utilcache.NewLRUExpireCache(maxScopes), ttl: time.Hour, now: time.Now,
		namespaces: func() []string { return namespaces }, answers: utilcache.NewLRUExpireCache(maxAnswers), review: reviews.review,
	}
	var asking sync.WaitGroup
	var answered atomic.Int64
	ask := func(question func() (view.Scope, error)) {
		asking.Go(func() {
			of, err := question()
			switch problem, refused := errors.AsType[*view.Problem](err); {
			case err == nil && of.Empty():
				answered.Add(1)
			case !refused || problem.Code != "Busy":
				t.Errorf("the caller may see %v: %v", of, err)
			}
		})
	}
	for i := range 20 {
		who := &Caller{User: &user.DefaultInfo{Name: "robot", UID: "1", Extra: map[string][]string{"credential-id": {strconv.Itoa(i)}}}}
		ask(func() (view.Scope, error) { return r.Visible(t.Context(), who) })
		for k := range r.kinds {
			ask(func() (view.Scope, error) { return r.ScopeOf(t.Context(), who, &r.kinds[k], "", "list") })
		}
	}
	asking.Wait()
	if reviews.most > askers || answered.Load() == 0 {
		t.Errorf("%d reviews of one caller run at the same time, want at most %d; %d questions have an answer", reviews.most, askers, answered.Load())
	}
}

// TestRequestsThatWeighMore fills a bucket by requests that count for many.
func TestRequestsThatWeighMore(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l := NewLimiter(10, 50, func() time.Time { return now })
	for i, step := range []struct {
		requests int
		wait     time.Duration
	}{{40, 0}, {20, time.Second}, {10, 0}, {0, 0}, {1, 100 * time.Millisecond}, {1000, 5 * time.Second}} {
		if got := l.Charge("ann", step.requests); got != step.wait {
			t.Errorf("step %d: %d requests wait %s, want %s", i, step.requests, got, step.wait)
		}
	}
	if got := l.Take("ben"); got != 0 {
		t.Errorf("somebody else waits %s", got)
	}
}

// Two tokens of one user can have different groups and extra fields, as those of OpenID Connect do. One used to get the namespaces of the
// other from the cache.
func TestAttackScopeOfAnotherTokenOfTheUser(t *testing.T) {
	t.Parallel()
	r := &Rights{
		scopes: utilcache.NewLRUExpireCache(maxScopes), surveys: NewTurns(maxSurveys), ttl: time.Hour, now: time.Now,
		namespaces: func() []string { return []string{"a"} },
	}
	callers := map[string]*user.DefaultInfo{
		"in the group":          {Name: "me", UID: "1", Groups: []string{"admins"}},
		"in no group":           {Name: "me", UID: "1"},
		"in groups of its name": {Name: "me", UID: "1", Groups: []string{"adm", "ins"}},
		"with a scope":          {Name: "me", UID: "1", Extra: map[string][]string{"scopes": {"admins"}}},
	}
	for _, name := range []string{"in the group", "in no group", "in groups of its name", "with a scope"} {
		who := callers[name]
		got, err := r.within(t.Context(), &Caller{User: who}, "pods list", func(context.Context, string) (bool, error) {
			return slices.Contains(who.Groups, "admins"), nil
		})
		if admitted := got.Admits("a"); err != nil || admitted != (name == "in the group") {
			t.Errorf("%s: the caller sees the namespace: %t, %v", name, admitted, err)
		}
	}
}

// TestAReviewThatFailsTakesNothingAway has an API server whose webhook for rights does not answer. It then says that a caller is not allowed, and why it does
// not know: sessions with containers and followed logs ended with that, as if the right had been taken away.
func TestAReviewThatFailsTakesNothingAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status         string
		allowed, known bool
	}{
		"it says yes":                     {`"allowed":true`, true, true},
		"it says no":                      {`"allowed":false,"reason":"RBAC: role.rbac.authorization.k8s.io \"gone\" not found"`, false, true},
		"it cannot say":                   {`"allowed":false,"evaluationError":"webhook: connection refused"`, false, false},
		"it says yes in spite of trouble": {`"allowed":true,"evaluationError":"webhook: connection refused"`, true, true},
		"it denies in spite of trouble":   {`"allowed":false,"denied":true,"evaluationError":"webhook: connection refused"`, false, true},
	} {
		for whose, who := range map[string]*Caller{
			"a token": {User: &user.DefaultInfo{Name: "ann", Extra: map[string][]string{"scopes": {"all"}}}},
			"the URL": {User: &user.DefaultInfo{Name: "me"}, Session: true},
		} {
			t.Run(name+" of "+whose, func(t *testing.T) {
				t.Parallel()
				var asked atomic.Int64
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					kind := "SubjectAccessReview"
					if who.Session {
						kind = "Self" + kind
					}
					asked.Add(1)
					w.Header().Set("Content-Type", "application/json")
					_, _ = fmt.Fprintf(w, `{"apiVersion":"authorization.k8s.io/v1","kind":%q,"status":{%s}}`, kind, c.status)
				}))
				t.Cleanup(server.Close)
				clients, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
				if err != nil {
					t.Fatal(err)
				}
				r := NewRights(clients.AuthorizationV1(), time.Hour, view.Kinds(), func() []string { return nil }, time.Now)
				k := &r.kinds[0]
				for range 2 {
					allowed, err := r.MayDo(t.Context(), who, k, view.ReadLog(), "shop", "web")
					problem, said := errors.AsType[*view.Problem](err)
					if allowed != c.allowed || (err == nil) != c.known || !c.known && (!said || problem.Status != http.StatusServiceUnavailable) {
						t.Errorf("the caller may: %t, %v", allowed, err)
					}
				}
				if want := map[bool]int64{true: 1, false: 2}[c.known]; asked.Load() != want {
					t.Errorf("it is asked %d times, want %d", asked.Load(), want)
				}
			})
		}
	}
}
