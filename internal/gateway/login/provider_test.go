// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
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

// rotating is a provider that accepts each refresh token once, and whose keys are away at first.
type rotating struct {
	*httptest.Server

	key   *rsa.PrivateKey
	clock *clock

	mu     sync.Mutex
	issued int
	asked  int
}

func newRotating(t *testing.T, c *clock) *rotating {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	mux := http.NewServeMux()
	r := &rotating{Server: httptest.NewServer(mux), key: key, clock: c}
	t.Cleanup(r.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		writeTo(w, http.StatusOK, `{"issuer":"`+r.URL+`","authorization_endpoint":"`+r.URL+`/auth","token_endpoint":"`+r.URL+`/token","jwks_uri":"`+r.URL+`/keys"}`)
	})
	mux.HandleFunc("POST /token", r.renew)
	mux.HandleFunc("GET /keys", r.keys)
	return r
}

func (r *rotating) renew(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if request.FormValue("refresh_token") != fmt.Sprint("refresh ", r.issued) {
		writeTo(w, http.StatusBadRequest, `{"error":"invalid_grant"}`)
		return
	}
	r.issued++
	claims := fmt.Sprintf(`{"iss":%q,"aud":"windlass","sub":"ann","exp":%d}`, r.URL, r.clock.now().Add(5*time.Minute).Unix())
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	sum := sha256.Sum256([]byte(unsigned))
	signature, err := rsa.SignPKCS1v15(rand.Reader, r.key, crypto.SHA256, sum[:])
	if err != nil {
		writeTo(w, http.StatusInternalServerError, `{"error":"server_error"}`)
		return
	}
	writeTo(w, http.StatusOK, fmt.Sprintf(`{"access_token":"a","token_type":"Bearer","expires_in":300,"refresh_token":"refresh %d","id_token":"%s.%s"}`,
		r.issued, unsigned, base64.RawURLEncoding.EncodeToString(signature)))
}

func (r *rotating) keys(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked++; r.asked == 1 {
		writeTo(w, http.StatusServiceUnavailable, `{}`)
		return
	}
	writeTo(w, http.StatusOK, `{"keys":[{"kty":"RSA","alg":"RS256","use":"sig","kid":"1","e":"AQAB","n":"`+base64.RawURLEncoding.EncodeToString(r.key.N.Bytes())+`"}]}`)
}

// TestASessionOutlivesKeysThatAreAway has a provider that answers a renewal with a new refresh token, and whose keys cannot be fetched just then. The new
// refresh token was thrown away, and the old one is good for nothing.
func TestASessionOutlivesKeysThatAreAway(t *testing.T) {
	t.Parallel()
	c := newClock()
	server := newRotating(t, c)
	p, err := NewProvider(ProviderOptions{IssuerURL: server.URL, ClientID: "windlass", Now: c.now})
	must(t, err)
	table := NewTable(12*time.Hour, time.Hour, p, c.now)
	cookie, _ := table.Open(Opening{User: "ann", Method: ByProvider, Credential: Credential{
		Token: expiring(c.now().Add(5 * time.Minute)), Refresh: "refresh 0", Subject: "ann",
	}})
	c.step(6 * time.Minute)
	if s, there, err := table.Use(t.Context(), cookie); there || err == nil {
		t.Errorf("without the keys there is %+v: %v", s, err)
	}
	c.step(renewPause)
	if s, there, err := table.Use(t.Context(), cookie); !there || err != nil || s.Subject != "ann" {
		t.Errorf("with the keys there is a session: %t, %+v: %v", there, s, err)
	}
}

func writeTo(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // a client that has left cannot be answered
}
