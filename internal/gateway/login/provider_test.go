// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestTroubleOfTheProviderIsNoRefusal has a token endpoint that is overloaded or fails for a moment. Its session was never renewed again.
func TestTroubleOfTheProviderIsNoRefusal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		code    string
		refused bool
	}{
		"a refresh token that is no longer good": {http.StatusBadRequest, "invalid_grant", true},
		"a client that it does not know":         {http.StatusUnauthorized, "invalid_client", true},
		"too many requests":                      {http.StatusTooManyRequests, "rate_limited", false},
		"a failure":                              {http.StatusInternalServerError, "unknown_error", false},
		"a failure that it names":                {http.StatusBadRequest, "server_error", false},
		"a restart":                              {http.StatusServiceUnavailable, "temporarily_unavailable", false},
		"an answer of something in between":      {http.StatusBadGateway, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mux := http.NewServeMux()
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
				writeTo(w, http.StatusOK, `{"issuer":"`+server.URL+`","authorization_endpoint":"`+server.URL+`/auth","token_endpoint":"`+server.URL+`/token","jwks_uri":"`+server.URL+`/keys"}`)
			})
			mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) { writeTo(w, c.status, `{"error":"`+c.code+`"}`) })
			p, err := NewProvider(ProviderOptions{IssuerURL: server.URL, ClientID: "windlass", Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Renew(t.Context(), Credential{Refresh: "refresh"})
			if _, refused := errors.AsType[*Refusal](err); err == nil || refused != c.refused {
				t.Errorf("refused is %t, want %t: %v", refused, c.refused, err)
			}
		})
	}
}

func writeTo(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // a client that has left cannot be answered
}
