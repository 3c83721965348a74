// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
)

// offline is a gateway in local mode whose API server nobody can reach: what gets that far has been understood.
func offline(f *testing.F) (g *Gateway, token string) {
	f.Helper()
	listener, err := (&net.ListenConfig{}).Listen(f.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = listener.Close() })
	refuse := func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }
	g, err = New(f.Context(), Options{Config: &rest.Config{Host: "http://127.0.0.1:1", Dial: refuse, QPS: -1}, Listener: listener, Session: true, Now: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	return g, secretOf(f, g)
}

// fuzzed sends a request to a gateway without a network.
func fuzzed(ctx context.Context, g *Gateway, method, path, token string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1"+path, body)
	request.RemoteAddr = "127.0.0.1:1"
	request.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header[header[i]] = []string{header[i+1]}
	}
	out := httptest.NewRecorder()
	g.Handler().ServeHTTP(out, request)
	return out
}

// FuzzScale holds that only what is a number of replicas gets to the API server, which here cannot be asked.
func FuzzScale(f *testing.F) {
	g, token := offline(f)
	f.Add(`{"replicas":3}`)
	f.Add(`{"replicas":-1}`)
	f.Add(`{"replicas":2147483648}`)
	f.Add(`{"replicas":1e3}`)
	f.Add(`{"replicas":null,"replicas":"1"}`)
	f.Add(``)
	f.Fuzz(func(t *testing.T, body string) {
		got := fuzzed(t.Context(), g, http.MethodPatch, "/v1/deployments/a/b/scale", token, strings.NewReader(body), "Content-Type", mediaJSON)
		var read struct {
			Replicas *int32 `json:"replicas"`
		}
		valid := json.Unmarshal([]byte(body), &read) == nil && read.Replicas != nil && *read.Replicas >= 0
		switch {
		case got.Header().Get("Content-Type") != mediaProblem:
			t.Errorf("%q is answered %d with %q", body, got.Code, got.Header().Get("Content-Type"))
		case got.Code == http.StatusBadGateway && !valid:
			t.Errorf("%q gets to the API server", body)
		case got.Code != http.StatusBadGateway && (got.Code < 400 || got.Code >= 500):
			t.Errorf("%q is answered %d: %s", body, got.Code, got.Body)
		}
	})
}

// FuzzApp does the same for apps: whatever the body is, it is the caller's fault, or the API server is asked.
func FuzzApp(f *testing.F) {
	g, token := offline(f)
	f.Add(`{"name":"a","namespace":"b","image":"c","replicas":1,"labels":{"x":"y"},"nodePool":"p"}`)
	f.Add(`{"name":"a","namespace":"b","image":"c","port":70000}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, body string) {
		got := fuzzed(t.Context(), g, http.MethodPost, "/v1/apps", token, strings.NewReader(body), "Content-Type", mediaJSON)
		if got.Code != http.StatusBadGateway && (got.Code < 400 || got.Code >= 500) || got.Header().Get("Content-Type") != mediaProblem {
			t.Errorf("%q is answered %d: %s", body, got.Code, got.Body)
		}
	})
}

// FuzzWatch holds that whatever a stream is asked for, it is refused as a problem or begins as a stream.
func FuzzWatch(f *testing.F) {
	g, token := offline(f)
	f.Add("nodes, services", "default", "x-1-y")
	f.Add("secrets", "A.B", "")
	f.Fuzz(func(t *testing.T, kinds, namespace, lastID string) {
		gone, cancel := context.WithCancel(t.Context())
		cancel() // or the stream would not end
		query := url.Values{"kinds": {kinds}, "ns": {namespace}}
		got := fuzzed(gone, g, http.MethodGet, "/v1/watch?"+query.Encode(), token, http.NoBody, "Last-Event-Id", lastID)
		media := got.Header().Get("Content-Type")
		if got.Code == http.StatusOK && media != feed.MediaType || got.Code != http.StatusOK && media != mediaProblem || got.Code >= 500 {
			t.Errorf("%q, %q and %q are answered %d with %q: %s", kinds, namespace, lastID, got.Code, media, got.Body)
		}
	})
}
