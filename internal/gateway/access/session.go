// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
)

// sessionParameter is the query parameter of the URL that is printed.
const sessionParameter = "session"

// Session lets requests from this machine that have its secret act as the user of the kubeconfig. A nil Session admits nobody.
type Session struct {
	secret, cookie string
	cookieName     string
	caller         *Caller
}

// OpenSession returns a session for requests to the address, which has to be on the loopback interface. It acts as the user
// that the API server knows the client as.
func OpenSession(ctx context.Context, client authenticationclient.AuthenticationV1Interface, address net.Addr) (*Session, error) {
	if !IsLoopback(address.String()) {
		return nil, fmt.Errorf("cannot open a session on %s: not a loopback address", address)
	}
	_, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return nil, fmt.Errorf("cannot read the port of %s: %w", address, err)
	}
	as := &user.DefaultInfo{Name: "kubeconfig"} // if the API server does not say: nothing else depends on the name
	review, err := client.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err == nil {
		as.Name, as.Groups = review.Status.UserInfo.Username, review.Status.UserInfo.Groups
	}
	return newSession(as, port), nil
}

// newSession returns a session with new secrets. The port is in the name of the cookie, because browsers send cookies to every
// port of a host.
func newSession(as user.Info, port string) *Session {
	return &Session{
		secret: rand.Text(), cookie: rand.Text(), cookieName: "windlass-session-" + port,
		caller: &Caller{User: as, Session: true},
	}
}

// URL returns the address with the secret of the session.
func (s *Session) URL(address string) string {
	return address + "?" + sessionParameter + "=" + s.secret
}

// carries reports whether the request is from this machine and the token is the secret of the session.
func (s *Session) carries(r *http.Request, token string) bool {
	return s != nil && IsLoopback(r.RemoteAddr) && same(token, s.secret)
}

func (s *Session) carriesCookie(r *http.Request) bool {
	if s == nil || !IsLoopback(r.RemoteAddr) {
		return false
	}
	cookie, err := r.Cookie(s.cookieName)
	return err == nil && same(cookie.Value, s.cookie)
}

// Begin exchanges the secret of a URL for a cookie, and redirects to the same page without the secret.
func (s *Session) Begin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s == nil || r.Method != http.MethodGet || r.URL.Path != "/" || !r.URL.Query().Has(sessionParameter) {
			next.ServeHTTP(w, r)
			return
		}
		if s.carries(r, r.URL.Query().Get(sessionParameter)) {
			http.SetCookie(w, &http.Cookie{ //nolint:gosec // because not every browser sends a secure cookie to http://127.0.0.1
				Name: s.cookieName, Value: s.cookie, Path: "/", HttpOnly: true, Secure: r.TLS != nil,
				SameSite: http.SameSiteStrictMode,
			})
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
