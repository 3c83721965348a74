// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestFromOwnPage(t *testing.T) {
	t.Parallel()
	const encrypted, plain = "https://windlass.example/v1/watch", "http://127.0.0.1:8090/v1/watch"
	tests := map[string]struct {
		url, site, origin string
		want              bool
	}{
		"a program":                                   {encrypted, "", "", true},
		"a page of ours":                              {encrypted, "same-origin", "", true},
		"a person who types the address":              {encrypted, "none", "", true},
		"a page of another site":                      {encrypted, "cross-site", "", false},
		"a page of another host of the domain":        {encrypted, "same-site", "", false},
		"a page of another site, by its origin":       {encrypted, "", "https://evil.example", false},
		"a page of another port":                      {plain, "", "http://127.0.0.1:8091", false},
		"a WebSocket of ours":                         {encrypted, "", "https://windlass.example", true},
		"a WebSocket of ours without TLS":             {plain, "", "http://127.0.0.1:8090", true},
		"a page without TLS that somebody has forged": {encrypted, "cross-site", "http://windlass.example", false},
		"a page without an origin":                    {encrypted, "", "null", false},
		"an origin that is no URL":                    {encrypted, "", "://", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.url, http.NoBody)
			for header, value := range map[string]string{"Sec-Fetch-Site": test.site, "Origin": test.origin} {
				if value != "" {
					request.Header.Set(header, value)
				}
			}
			if got := fromOwnPage(request); got != test.want {
				t.Errorf("it is from a page of ours: %t", got)
			}
		})
	}
}
