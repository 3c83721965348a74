// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// listing returns an API in front of an API server that has these lists, and the kind that is read from it. Rights are asked for in the namespaces.
func listing(t *testing.T, lists http.HandlerFunc, namespaces ...func() []string) (*API, *feed.Kind) {
	t.Helper()
	server := httptest.NewServer(lists)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	upstream, err := access.NewUpstream(config)
	if err != nil {
		t.Fatal(err)
	}
	hub := feed.NewHub(view.Kinds(), time.Now)
	k, _ := hub.Kind("configmaps")
	a := &API{Options: Options{Upstream: upstream, Hub: hub}, lists: access.NewTurns(maxLists), kept: access.NewBudget(maxList, 2*maxList)}
	for _, within := range namespaces {
		clients, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		a.Rights = access.NewRights(clients.AuthorizationV1(), time.Minute, view.Kinds(), within, time.Now)
	}
	return a, k
}

// TestAttackListsAtOnce holds that one list more than there are slots does not reach the API server, nor a second one of a caller.
func TestAttackListsAtOnce(t *testing.T) {
	t.Parallel()
	var running atomic.Int32
	begun, release := make(chan struct{}, 100), make(chan struct{})
	a, k := listing(t, func(w http.ResponseWriter, _ *http.Request) {
		running.Add(1)
		begun <- struct{}{}
		<-release
		_, _ = w.Write([]byte(`{"items":[]}`))
	})
	list := func(ctx context.Context, who string) error {
		_, err := a.listLive(ctx, caller(who), k, "shop", &ListInput{Selection: Selection{Limit: 1}})
		return err
	}
	answered := make(chan error, maxLists)
	for i := range maxLists {
		if i > 0 {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			if err := list(ctx, strconv.Itoa(i-1)); !isBusy(err) {
				t.Errorf("a second list of a caller: %v", err)
			}
			cancel()
		}
		go func() { answered <- list(t.Context(), strconv.Itoa(i)) }()
		<-begun
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := list(ctx, "late"); !isBusy(err) || running.Load() != maxLists {
		t.Errorf("with one more than there are slots, %d lists are read: %v", running.Load(), err)
	}
	close(release)
	for range maxLists {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
	if err := list(t.Context(), "late"); err != nil {
		t.Errorf("a slot that was left: %v", err)
	}
}

func isBusy(err error) bool {
	problem, refused := errors.AsType[*view.Problem](err)
	return refused && problem.Code == "Busy"
}

// TestAttackListsThatNobodyReads has callers who ask for large lists and do not read the answers. What is kept of them used to be bounded until they
// were answered only.
func TestAttackListsThatNobodyReads(t *testing.T) {
	t.Parallel()
	const mebibyte = 1 << 20
	a, k := listing(t, holdings{4, mebibyte}.ServeHTTP)
	a.kept = access.NewBudget(10*mebibyte, 15*mebibyte)
	// list returns what releases the answer.
	list := func(who string) (release func(), err error) {
		ctx, release := a.holding(t.Context(), caller(who))
		_, err = a.listLive(ctx, caller(who), k, "shop", &ListInput{})
		return release, err
	}
	var held []func()
	for _, who := range []string{"ann", "ann", "ben"} {
		release, err := list(who)
		if err != nil {
			t.Fatalf("a list of %s: %v", who, err)
		}
		held = append(held, release)
	}
	for about, who := range map[string]string{"a third list of a caller": "ann", "one more than there is room for": "kim"} {
		release, err := list(who)
		if release(); !isBusy(err) {
			t.Errorf("%s: %v", about, err)
		}
	}
	for _, release := range held {
		release()
	}
	for _, who := range []string{"ann", "kim"} {
		if _, err := list(who); err != nil {
			t.Errorf("a list of %s, when the answers are read: %v", who, err)
		}
	}
}

// TestAttackTheRightsOfAListHoldUpOthers has a caller who may list nothing, for whom each namespace is asked about. All others used to wait for that.
func TestAttackTheRightsOfAListHoldUpOthers(t *testing.T) {
	t.Parallel()
	served := 0
	var a *API
	a, k := listing(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", mediaJSON)
		_, _ = w.Write([]byte(`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":{"allowed":false}}`))
	}, func() []string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var leaves []func()
		for ; served < maxLists; served++ {
			leave, err := a.lists.Enter(ctx, caller(strconv.Itoa(served)))
			if err != nil {
				break
			}
			leaves = append(leaves, leave)
		}
		for _, leave := range leaves {
			leave()
		}
		return []string{"shop"}
	})
	_, err := a.listLive(t.Context(), caller("ann"), k, "", &ListInput{})
	if problem, refused := errors.AsType[*view.Problem](err); !refused || problem.Status != http.StatusForbidden || served != maxLists {
		t.Errorf("%d others are served: %v", served, err)
	}
}

// holdings are what an API server has: so many objects of a size, which it lists in parts.
type holdings struct{ objects, size int }

// ServeHTTP implements http.Handler.
func (h holdings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		limit = h.objects
	}
	first, _ := strconv.Atoi(query.Get("continue")) // 0 without it
	next, more := min(first+limit, h.objects), ""
	if next < h.objects {
		more = strconv.Itoa(next)
	}
	_, _ = fmt.Fprintf(w, `{"metadata":{"resourceVersion":"7","continue":%q},"items":[`, more)
	padding, separator := strings.Repeat("x", h.size), ""
	for i := first; i < next; i++ {
		if _, err := fmt.Fprintf(w, `%s{"metadata":{"namespace":"shop","name":"c%04d"},"data":{"padding":%q}}`, separator, i, padding); err != nil {
			return // a part that is too large is not read to its end
		}
		separator = ","
	}
	_, _ = w.Write([]byte("]}"))
}

// TestAttackLargeLists asks for few of many objects, and for more than fits.
func TestAttackLargeLists(t *testing.T) {
	t.Parallel()
	const mebibyte = 1 << 20
	for name, test := range map[string]struct {
		has  holdings
		in   Selection
		want []string
		// left is how many follow; negative for a list that is refused.
		left int
	}{
		"none":                  {has: holdings{}},
		"a page of many":        {holdings{1234, 10}, Selection{Limit: 2}, []string{"c0000", "c0001"}, 1232},
		"a search among many":   {holdings{1234, 10}, Selection{Search: "c1233"}, []string{"c1233"}, 0},
		"the last page":         {holdings{1001, 10}, Selection{Limit: 2, Continue: "eyJzIjoibmFtZSIsIm5zIjoic2hvcCIsIm4iOiJjMDk5OSJ9"}, []string{"c1000"}, 0},
		"a page of large ones":  {holdings{maxList/mebibyte + 1, mebibyte}, Selection{Limit: 1}, []string{"c0000"}, maxList / mebibyte},
		"more than can be kept": {holdings{maxList/mebibyte + 1, mebibyte}, Selection{}, nil, -1},
		"one that is too large": {holdings{1, maxPart}, Selection{}, nil, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, k := listing(t, test.has.ServeHTTP)
			ctx, release := a.holding(t.Context(), caller("ann"))
			defer release()
			list, err := a.listLive(ctx, caller("ann"), k, "shop", &ListInput{Selection: test.in})
			if test.left < 0 {
				if problem, refused := errors.AsType[*view.Problem](err); !refused || problem.Code != "TooLarge" {
					t.Errorf("the answer is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, item := range list.Items {
				names = append(names, item.Name)
			}
			if diff := cmp.Diff(test.want, names); diff != "" || list.Remaining != test.left || list.version != "7" {
				t.Errorf("%d follow at %s, want %d (-want +got):\n%s", list.Remaining, list.version, test.left, diff)
			}
		})
	}
}
