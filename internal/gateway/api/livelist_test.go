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
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// listing returns an API in front of an API server that has these lists, and the kind that is read from it.
func listing(t *testing.T, lists http.HandlerFunc) (*API, *feed.Kind) {
	t.Helper()
	server := httptest.NewServer(lists)
	t.Cleanup(server.Close)
	upstream, err := access.NewUpstream(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	hub := feed.NewHub(view.Kinds(), time.Now)
	k, _ := hub.Kind("configmaps")
	return &API{Options: Options{Upstream: upstream, Hub: hub}, lists: make(chan struct{}, maxLists)}, k
}

// TestAttackListsAtOnce holds that one list more than there are slots does not reach the API server.
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
	list := func(ctx context.Context) error {
		_, err := a.listLive(ctx, &access.Caller{Session: true}, k, "shop", &ListInput{Selection: Selection{Limit: 1}})
		return err
	}
	answered := make(chan error, maxLists)
	for range maxLists {
		go func() { answered <- list(t.Context()) }()
		<-begun
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := list(ctx); !errors.Is(err, context.DeadlineExceeded) || running.Load() != maxLists {
		t.Errorf("with one more than there are slots, %d lists are read: %v", running.Load(), err)
	}
	close(release)
	for range maxLists {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
	if err := list(t.Context()); err != nil {
		t.Errorf("a slot that was left: %v", err)
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
			list, err := a.listLive(t.Context(), &access.Caller{Session: true}, k, "shop", &ListInput{Selection: test.in})
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
