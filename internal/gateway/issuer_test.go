// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// issuer is an OpenID provider that takes everybody for the same person.
type issuer struct {
	*httptest.Server

	key ed25519.PrivateKey
	now func() time.Time

	mu     sync.Mutex
	nonce  string
	tokens []string
}

func newIssuer(t *testing.T, now func() time.Time) *issuer {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	out, mux := &issuer{key: key, now: now}, http.NewServeMux()
	out.Server = httptest.NewServer(mux)
	t.Cleanup(out.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{
			"issuer": out.URL, "authorization_endpoint": out.URL + "/auth", "token_endpoint": out.URL + "/token", "jwks_uri": out.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"EdDSA"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"keys": []any{map[string]string{
			"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "1", "x": base64.RawURLEncoding.EncodeToString(public),
		}}})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"access_token": "access", "token_type": "Bearer", "refresh_token": "refresh", "id_token": out.issue()})
	})
	return out
}

// issue returns a new token that is valid for an hour.
func (i *issuer) issue() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	claims, err := json.Marshal(map[string]any{
		"iss": i.URL, "aud": "windlass", "sub": "ann", "nonce": i.nonce, "jti": strconv.Itoa(len(i.tokens)), "iat": i.now().Unix(),
		"exp": i.now().Add(time.Hour).Unix(),
	})
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":"1"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	token += "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(i.key, []byte(token)))
	i.tokens = append(i.tokens, token)
	return token
}

// issued returns all tokens, the newest one last.
func (i *issuer) issued() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.tokens)
}

// logInAt logs in at the provider, and returns the cookie as a browser sends it.
func (r *rig) logInAt(t *testing.T, at *issuer) string {
	t.Helper()
	begun := r.do(t, http.MethodGet, "/v1/session/oidc?return=/", "", "")
	location, err := url.Parse(begun.header.Get("Location"))
	must(t, err)
	at.mu.Lock()
	at.nonce = location.Query().Get("nonce")
	at.mu.Unlock()
	finished := r.do(t, http.MethodGet, "/v1/session/oidc/callback?code=good&state="+url.QueryEscape(location.Query().Get("state")), "", "",
		"Cookie", begun.cookie(t))
	for _, set := range finished.header.Values("Set-Cookie") {
		if pair, _, _ := strings.Cut(set, ";"); !strings.HasSuffix(pair, "=") {
			return pair
		}
	}
	t.Fatalf("the login is answered %d: %s", finished.status, finished.body)
	return ""
}
