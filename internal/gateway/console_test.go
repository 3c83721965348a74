// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/gateway/console"
)

// TestAttackConsoleOfAnotherHost asks for the console as a page of a foreign name does that resolves to this machine, with methods that
// write, and by paths that lead out of it.
func TestAttackConsoleOfAnotherHost(t *testing.T) {
	t.Parallel()
	root, err := console.New()
	must(t, err)
	r := newRig(t, func(o *Options) { o.Root = root })
	for _, try := range []struct {
		method, host, path string
		status             int
	}{
		{http.MethodGet, "", "/", http.StatusOK},
		{http.MethodHead, "", "/nodes", http.StatusOK},
		{http.MethodGet, "evil.example.com", "/", http.StatusMisdirectedRequest},
		{http.MethodGet, "evil.example.com", "/assets/index.js", http.StatusMisdirectedRequest},
		{http.MethodPost, "", "/", http.StatusMethodNotAllowed},
		{http.MethodDelete, "", "/nodes/a", http.StatusMethodNotAllowed},
		{http.MethodGet, "", "/assets/", http.StatusNotFound},
		{http.MethodGet, "", "/assets/%2e%2e/%2e%2e/unbuilt.html", http.StatusNotFound},
		{http.MethodGet, "", "/..%2f..%2fetc/passwd", http.StatusNotFound},
	} {
		request, err := http.NewRequestWithContext(t.Context(), try.method, r.base+try.path, nil)
		must(t, err)
		request.Header.Set("Accept", "text/html")
		if try.host != "" {
			request.Host = try.host
		}
		answer, err := http.DefaultClient.Do(request)
		must(t, err)
		must(t, answer.Body.Close())
		policy := answer.Header.Get("Content-Security-Policy")
		if answer.StatusCode != try.status || !strings.HasPrefix(policy, "default-src 'none'") || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s of host %q: %d, not %d, with the policy %q", try.method, try.path, try.host, answer.StatusCode, try.status, policy)
		}
	}
}
