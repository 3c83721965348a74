// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"
)

// sessionParameter is the query parameter of the URL that is printed.
const sessionParameter = "session"

// session lets requests from this machine that carry a secret act as the kubeconfig. A nil session lets nobody.
type session struct {
	secret, cookie string
	cookieName     string
	caller         *caller
}

// newSession returns a session with new secrets for requests that act as the user. Cookies know no ports, so the port is in
// the cookie's name.
func newSession(as user.Info, port string) *session {
	return &session{
		secret: rand.Text(), cookie: rand.Text(), cookieName: "windlass-session-" + port,
		caller: &caller{user: as, session: true},
	}
}

// carries reports whether the request is from this machine and the token is the secret.
func (s *session) carries(r *http.Request, token string) bool {
	return s != nil && isLoopback(r.RemoteAddr) && same(token, s.secret)
}

func (s *session) carriesCookie(r *http.Request) bool {
	if s == nil || !isLoopback(r.RemoteAddr) {
		return false
	}
	cookie, err := r.Cookie(s.cookieName)
	return err == nil && same(cookie.Value, s.cookie)
}

// begin exchanges the secret of a URL for the cookie, and leads to the same page without the secret.
func (s *session) begin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s == nil || r.Method != http.MethodGet || r.URL.Path != "/" || !r.URL.Query().Has(sessionParameter) {
			next.ServeHTTP(w, r)
			return
		}
		if s.carries(r, r.URL.Query().Get(sessionParameter)) {
			http.SetCookie(w, &http.Cookie{ //nolint:gosec // because it is secure where the connection is: here it is the loopback
				Name: s.cookieName, Value: s.cookie, Path: "/", HttpOnly: true, Secure: r.TLS != nil,
				SameSite: http.SameSiteStrictMode,
			})
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// isLoopback reports whether the address, with or without a port, is one of this machine.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	parsed, err := netip.ParseAddr(host)
	return err == nil && parsed.Unmap().IsLoopback()
}

// remoteHost returns the address of the client without its port.
func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
