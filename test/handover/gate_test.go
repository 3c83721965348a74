// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// gate stands between one manager and what it calls. It can be closed, writes down what changes something, and can hold the answer to a call.
type gate struct {
	server *httptest.Server
	socket string
	next   http.Handler

	mutex  sync.Mutex
	closed bool
	calls  []call
	// watched are the paths that were watched, each with the first time.
	watched map[string]time.Time
	// held is the end of the path of calls whose answers wait, and waiting is closed when they need not any more.
	held    string
	holding bool
	waiting chan struct{}
}

// call is a request that changes something.
type call struct {
	at   time.Time
	text string
}

func newGate(next *httputil.ReverseProxy) *gate {
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // cut connections are what it is for
	next.FlushInterval, next.ErrorLog = -1, quiet                    // watches and events send what they have at once
	next.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	g := &gate{next: next, waiting: make(chan struct{}), watched: make(map[string]time.Time)}
	g.server = httptest.NewUnstartedServer(g)
	g.server.Config.ErrorLog = quiet
	return g
}

// newAPIGate returns the gate of an API server.
func newAPIGate(t *testing.T, config *rest.Config) *gate {
	t.Helper()
	target, err := url.Parse(config.Host)
	must(t, err)
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	must(t, err)
	g := newGate(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport})
	g.server.StartTLS()
	t.Cleanup(g.close)
	return g
}

// newEngineGate returns the gate of a Docker Engine.
func newEngineGate(t *testing.T, engine *dockertest.Daemon) *gate {
	t.Helper()
	g := newGate(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine" },
		Transport: engine.RoundTripper(),
	})
	g.socket = filepath.Join(t.TempDir(), "s")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", g.socket)
	must(t, err)
	must(t, g.server.Listener.Close())
	g.server.Listener = listener
	g.server.Start()
	t.Cleanup(g.close)
	return g
}

func (g *gate) close() {
	g.release()
	g.server.CloseClientConnections()
	g.server.Close()
}

// config returns how a client with that token connects to the gate.
func (g *gate) config(token string) *rest.Config {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.server.Certificate().Raw})
	return &rest.Config{Host: g.server.URL, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
}

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.isClosed() {
		panic(http.ErrAbortHandler)
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		g.noteWatch(r.URL)
		g.next.ServeHTTP(w, r)
		return
	}
	if wait := g.note(r); wait == nil {
		g.next.ServeHTTP(w, r)
	} else {
		kept := httptest.NewRecorder()
		g.next.ServeHTTP(kept, r)
		g.await(wait)
		maps.Copy(w.Header(), kept.Header())
		w.WriteHeader(kept.Code)
		_, _ = kept.Body.WriteTo(w)
	}
}

// note writes a call down, and returns what its answer has to wait for, nil for nothing.
func (g *gate) note(r *http.Request) <-chan struct{} {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.calls = append(g.calls, call{time.Now(), r.Method + " " + r.URL.Path})
	if g.held == "" || !strings.HasSuffix(r.URL.Path, g.held) {
		return nil
	}
	return g.waiting
}

// noteWatch writes down since when a path is watched. A watch that ends and begins again is still the same.
func (g *gate) noteWatch(of *url.URL) {
	if of.Query().Get("watch") == "" {
		return
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if _, known := g.watched[of.Path]; !known {
		g.watched[of.Path] = time.Now()
	}
}

// watchedSince returns the paths that nobody watched before that time.
func (g *gate) watchedSince(from time.Time) []string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	var out []string
	for path, first := range g.watched {
		if !first.Before(from) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

func (g *gate) await(wait <-chan struct{}) {
	g.mutex.Lock()
	g.holding = true
	g.mutex.Unlock()
	<-wait
}

// hold holds the answers to calls of a path from now on.
func (g *gate) hold(path string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.held = path
}

// holds returns an error until an answer is held.
func (g *gate) holds() error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if !g.holding {
		return errors.New("no answer is held")
	}
	return nil
}

// release gives the answers that are held.
func (g *gate) release() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.held != "" {
		g.held = ""
		close(g.waiting)
	}
}

// cut closes the gate, and ends all connections.
func (g *gate) cut() {
	g.mutex.Lock()
	g.closed = true
	g.mutex.Unlock()
	g.server.CloseClientConnections()
}

func (g *gate) mend() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.closed = false
}

func (g *gate) isClosed() bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.closed
}

// since returns the calls from a time on.
func (g *gate) since(from time.Time) []string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	var out []string
	for _, one := range g.calls {
		if !one.at.Before(from) {
			out = append(out, fmt.Sprintf("%s at %s", one.text, one.at.Format(time.TimeOnly)))
		}
	}
	return out
}
