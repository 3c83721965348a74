// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// bookmark is what an API server sends on a watch after the objects that there are.
func bookmark(path string) string {
	for _, kind := range view.Kinds() {
		if plural := kind.Resource().Resource; strings.HasSuffix(path, "/"+plural) {
			return fmt.Sprintf(`{"type":"BOOKMARK","object":{"apiVersion":%q,"kind":%q,"metadata":{`+
				`"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}}}}`, kind.GVK.GroupVersion(), kind.GVK.Kind)
		}
	}
	return ""
}

// apiServer is one without objects that can go away and come back.
type apiServer struct {
	mu   sync.Mutex
	away bool
	// frozen is true while it closes nothing and answers nothing.
	frozen bool
	open   int
	cut    context.CancelFunc
	up     context.Context //nolint:containedctx // it ends with the API server, not with a request
}

// RoundTrip implements http.RoundTripper: every request but that for a sign of life is answered as the watch of a kind without objects.
func (s *apiServer) RoundTrip(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	if s.frozen {
		s.mu.Unlock()
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
	defer s.mu.Unlock()
	if s.away {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	if request.URL.Path == "/version" {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
	}
	s.open++
	body := &watchBody{Reader: strings.NewReader(bookmark(request.URL.Path)), request: request.Context(), server: s.up}
	header := http.Header{"Content-Type": []string{"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: body, Request: request}, nil
}

// watches returns how many watches were begun since the API server started.
func (s *apiServer) watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// watchBody is the body of a watch: it ends with its request or its API server.
type watchBody struct {
	io.Reader

	request, server context.Context //nolint:containedctx // the two lives that a body depends on
}

func (s *watchBody) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); err == nil {
		return n, nil
	}
	select {
	case <-s.request.Done():
	case <-s.server.Done():
	}
	return 0, io.ErrUnexpectedEOF
}

func (s *watchBody) Close() error { return nil }

func (s *apiServer) starts(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up, s.cut = context.WithCancel(ctx)
	s.away, s.open = false, 0
}

func (s *apiServer) goesAway() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = true
	s.cut()
}

func (s *apiServer) freezes(frozen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = frozen
}

// calm is how long an API server is there between two outages: a reflector forgets an earlier one in two minutes.
const calm = 3 * time.Minute

// pass lets the time of a bubble pass.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // because time in a bubble passes as soon as everybody waits
	synctest.Wait()
}

// TestAnAPIServerThatWasAwayIsWatchedWithinTwoSeconds runs in a bubble, where time is what the sleeps add up to. With the usual backoff
// of a reflector it took up to a minute.
func TestAnAPIServerThatWasAwayIsWatchedWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]time.Duration{"for a moment": time.Second, "for long": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				server := &apiServer{away: true}
				h := NewHub(view.Kinds(), time.Now)
				watched := 0
				for _, k := range h.Kinds {
					if !k.Uncached {
						watched++
					}
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					if err := h.Run(ctx, &rest.Config{Host: "http://127.0.0.1", Transport: server, QPS: -1}, time.Hour, logr.Discard()); err != nil {
						t.Error(err)
					}
				}()
				for range 3 {
					pass(away)
					server.starts(ctx)
					pass(2 * time.Second)
					if missing := h.Missing(); len(missing) > 0 || server.watches() != watched {
						t.Errorf("2s after its return, %d of %d kinds are watched; not in step are %v", server.watches(), watched, missing)
					}
					pass(calm)
					server.goesAway()
				}
				cancel()
				<-ended
			})
		})
	}
}

// TestAFrozenAPIServerIsNoticed has an API server whose watches stay open and silent: only that it does not answer tells.
func TestAFrozenAPIServerIsNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := &apiServer{}
		server.starts(ctx)
		h := NewHub(view.Kinds(), time.Now)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := h.Run(ctx, &rest.Config{Host: "http://127.0.0.1", Transport: server, QPS: -1}, 5*time.Second, logr.Discard()); err != nil {
				t.Error(err)
			}
		}()
		k, _ := h.Kind(view.ServicesPlural)
		for round := range 3 {
			pass(10 * time.Second)
			now, turned := h.staleOf([]*Kind{k})
			if len(now.kinds) > 0 || k.Store.Behind(time.Now()) > 0 {
				t.Errorf("round %d: a server that answers is behind: %v", round, now)
			}
			server.freezes(true)
			pass(10 * time.Second)
			select {
			case <-turned:
			default:
				t.Error("nobody is told")
			}
			if now, _ := h.staleOf([]*Kind{k}); len(now.kinds) != 1 || now.kinds[0] != view.ServicesPlural || k.Store.Behind(time.Now()) < 5*time.Second {
				t.Errorf("round %d: a server that does not answer is not behind: %v", round, now)
			}
			server.freezes(false)
		}
		cancel()
		<-ended
	})
}
