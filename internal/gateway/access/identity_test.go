// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func FuzzCredentials(f *testing.F) {
	f.Add("Bearer a", "127.0.0.1:1")
	f.Add("bearer", "[::1]:1")
	f.Add("Basic YTpi", "localhost")
	f.Fuzz(func(t *testing.T, header, host string) {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		request.Header["Authorization"] = []string{header}
		if token, ok := bearerToken(request); !ok || strings.TrimSpace(token) != token {
			t.Errorf("the token of %q is %q, %t", header, token, ok)
		}
		if IsLoopback(host) && strings.Contains(host, "example") {
			t.Errorf("%q is taken for this machine", host)
		}
	})
}
