// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/windlass-operator/windlass/internal/gateway"
	"github.com/windlass-operator/windlass/internal/gateway/login"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// server is a gateway.
type server struct {
	base string
	log  *lines
	// ahead is how far its clock is ahead, in nanoseconds.
	ahead *atomic.Int64
}

// newServer starts a gateway that runs until the end of the test.
func newServer(t *testing.T, change ...func(*login.ProviderOptions)) *server {
	t.Helper()
	if shared.skip != "" {
		t.Skip(shared.skip)
	}
	listener := <-shared.free
	provider := &login.ProviderOptions{
		IssuerURL: shared.issuer, ClientID: "windlass", ClientSecretFile: shared.path("secret"), CAFile: shared.path("cert.pem"),
		RedirectURL: callback(listener), Scopes: []string{"profile", "offline_access"},
	}
	for _, c := range change {
		c(provider)
	}
	s := &server{base: "https://" + listener.Addr().String(), log: &lines{}, ahead: &atomic.Int64{}}
	g, err := gateway.New(t.Context(), gateway.Options{
		Config: shared.config, Listener: listener, CertFile: shared.path("cert.pem"), KeyFile: shared.path("key.pem"), Provider: provider,
		RightsTTL: 200 * time.Millisecond, Heartbeat: time.Second, SessionIdle: 12 * time.Hour,
		Now: func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) },
		Log: funcr.New(func(_, line string) { s.log.add(line) }, funcr.Options{}),
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- g.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
		// With -count the next round takes the address, which the gateway has closed.
		again, err := (&net.ListenConfig{}).Listen(context.WithoutCancel(t.Context()), "tcp", listener.Addr().String())
		if err == nil {
			shared.free <- again
		}
	})
	testkit.Eventually(t, "the stores are in step", func() bool { return g.Ready(nil) == nil })
	return s
}

// browser is one that a person uses.
type browser struct {
	*http.Client

	t *testing.T
	// until is where it does not go on by itself; empty for nowhere.
	until string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	transport := shared.transport()
	t.Cleanup(transport.CloseIdleConnections)
	b := &browser{t: t}
	b.Client = &http.Client{Transport: transport, Jar: jar, CheckRedirect: func(next *http.Request, _ []*http.Request) error {
		if b.until != "" && strings.HasPrefix(next.URL.String(), b.until) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	return b
}

// page is what a browser shows.
type page struct {
	*url.URL

	status int
	header http.Header
	body   string
}

// open opens a URL and goes where it leads.
func (b *browser) open(method, where, body string) page {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, where, strings.NewReader(body))
	must(b.t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := b.Do(request)
	must(b.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	must(b.t, err)
	return page{response.Request.URL, response.StatusCode, response.Header, string(raw)}
}

func (b *browser) get(where string) page {
	b.t.Helper()
	return b.open(http.MethodGet, where, "")
}

// begin opens the page of the provider that asks who somebody is.
func (b *browser) begin(s *server, returnTo string) page {
	b.t.Helper()
	asks := b.get(s.base + "/v1/session/oidc?return=" + url.QueryEscape(returnTo))
	if asks.status != http.StatusOK || !strings.HasPrefix(asks.String(), shared.issuer+"/login/") {
		b.t.Fatalf("the browser is at %s: %d %s", asks, asks.status, asks.body)
	}
	return asks
}

// enter says at the provider that the person is its first user, and goes where that leads.
func (b *browser) enter(asks page) page {
	b.t.Helper()
	form := url.Values{"id": {asks.Query().Get("authRequestID")}, "username": {"test-user@127.0.0.1"}, "password": {"verysecure"}}
	return b.open(http.MethodPost, shared.issuer+"/login/username", form.Encode())
}

// link returns the URL with which the provider sends the browser back, without opening it.
func (b *browser) link(s *server, asks page) string {
	b.t.Helper()
	b.until = s.base + "/v1/session/oidc/callback"
	defer func() { b.until = "" }()
	back := b.enter(asks).header.Get("Location")
	if !strings.HasPrefix(back, b.until) {
		b.t.Fatalf("the provider sends the browser to %q", back)
	}
	return back
}

// loggedIn reports whether the browser has a session.
func (b *browser) loggedIn(s *server) bool {
	b.t.Helper()
	return b.get(s.base+"/v1/session").status == http.StatusOK
}

// wantText checks that a page is what a person reads, and no page in HTML.
func (p page) wantText(t *testing.T, status int, text string) {
	t.Helper()
	if p.status != status || !strings.Contains(p.body, text) || p.header.Get("Content-Type") != "text/plain; charset=utf-8" ||
		p.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("status %d with %q: %s; want %d with %q", p.status, p.header.Get("Content-Type"), p.body, status, text)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
