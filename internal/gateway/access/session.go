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
	"slices"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
)

// Query parameters of URLs that begin a session.
const (
	// secretParameter has the secret of the session, for a URL that is shown to the user.
	secretParameter = "session"
	// codeParameter has a code, for a URL that others on this machine can see, such as an argument of a program.
	codeParameter = "code"
)

// codeTTL is how long a code is valid: as long as a browser may take to start.
const codeTTL = 30 * time.Second

// maxCookies is how many browsers a session has at a time; the oldest one has to begin again.
const maxCookies = 64

// Session lets requests from this machine that have its secret, or a cookie, act as the user of the kubeconfig. A nil Session
// admits nobody.
type Session struct {
	secret, cookieName string
	user               user.Info
	now                func() time.Time

	mu sync.Mutex
	// cookies are those that were issued, the oldest first.
	cookies []string
	codes   map[string]*code
}

// code is exchanged for a cookie once.
type code struct {
	expires time.Time
	// cookie is what the code was exchanged for; empty before.
	cookie string
}

// OpenSession returns a session for requests to the address, which has to be on the loopback interface. It acts as the user
// that the API server knows the client as.
func OpenSession(
	ctx context.Context, client authenticationclient.AuthenticationV1Interface, address net.Addr, now func() time.Time,
) (*Session, error) {
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
	return newSession(as, port, now), nil
}

// newSession returns a session of the user. The port is in the name of the cookie, because browsers send cookies to every port
// of a host.
func newSession(as user.Info, port string, now func() time.Time) *Session {
	return &Session{
		secret: rand.Text(), cookieName: "windlass-session-" + port, user: as, now: now,
		codes: map[string]*code{},
	}
}

// URL returns the address with the secret of the session. It is valid until the process ends.
func (s *Session) URL(address string) string { return address + "?" + secretParameter + "=" + s.secret }

// BrowserURL returns the address with a new code, which is valid once and for a short time.
func (s *Session) BrowserURL(address string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := rand.Text()
	s.codes[fresh] = &code{expires: s.now().Add(codeTTL)}
	return address + "?" + codeParameter + "=" + fresh
}

// Begin exchanges the secret or the code of a URL for a cookie, and redirects to the same page without it.
func (s *Session) Begin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if s == nil || r.Method != http.MethodGet || r.URL.Path != "/" || !query.Has(secretParameter) && !query.Has(codeParameter) {
			next.ServeHTTP(w, r)
			return
		}
		if cookie := s.exchange(r); cookie != "" {
			http.SetCookie(w, s.cookie(r, cookie, 0))
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
}

// cookie returns the cookie with the value; a negative age takes it from the browser.
func (s *Session) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // because not every browser sends a secure cookie to http://127.0.0.1
		Name: s.cookieName, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
}

// exchange returns a new cookie for the secret or the code of the request, and nothing for any other.
func (s *Session) exchange(r *http.Request) string {
	query := r.URL.Query()
	if !IsLoopback(r.RemoteAddr) {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if same(query.Get(secretParameter), s.secret) {
		return s.issue()
	}
	return s.redeem(query.Get(codeParameter))
}

// redeem returns a new cookie for a code. A code that comes twice was seen by somebody else, and nobody knows who came first: so
// the cookie of the first one is revoked. It needs the lock.
func (s *Session) redeem(text string) string {
	for known, c := range s.codes {
		if s.now().After(c.expires) {
			delete(s.codes, known)
		}
	}
	found, ok := s.codes[text]
	if !ok {
		return ""
	}
	if found.cookie != "" {
		s.cookies = slices.DeleteFunc(s.cookies, func(issued string) bool { return issued == found.cookie })
		return ""
	}
	found.cookie = s.issue()
	return found.cookie
}

// issue returns a new cookie. It needs the lock.
func (s *Session) issue() string {
	cookie := rand.Text()
	s.cookies = append(s.cookies, cookie)
	if len(s.cookies) > maxCookies {
		s.cookies = s.cookies[1:]
	}
	return cookie
}

// carries reports whether the request is from this machine and the token is the secret of the session.
func (s *Session) carries(r *http.Request, token string) bool {
	return s != nil && IsLoopback(r.RemoteAddr) && same(token, s.secret)
}

// cookieOf returns the cookie of the session that the request from this machine has; empty if it has none.
func (s *Session) cookieOf(r *http.Request) string {
	if s == nil || !IsLoopback(r.RemoteAddr) {
		return ""
	}
	sent, err := r.Cookie(s.cookieName)
	if err != nil || !s.knows(sent.Value) {
		return ""
	}
	return sent.Value
}

// knows reports whether the cookie is one of the session.
func (s *Session) knows(cookie string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.cookies, func(issued string) bool { return same(cookie, issued) })
}

// revoke ends what the cookie is good for, and takes it from the browser.
func (s *Session) revoke(w http.ResponseWriter, r *http.Request, cookie string) {
	http.SetCookie(w, s.cookie(r, "", -1))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cookies = slices.DeleteFunc(s.cookies, func(issued string) bool { return same(cookie, issued) })
}

// caller returns the user of the kubeconfig as the caller of a request with the cookie, or with the secret.
func (s *Session) caller(cookie string) *Caller {
	return &Caller{User: s.user, Session: true, cookie: cookie}
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
