// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
)

// TestCodesAreGoodForOneBrowser holds that a URL that others on this machine can see is worth nothing to them.
func TestCodesAreGoodForOneBrowser(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	begin := func(s *Session, url, remote string) *http.Cookie {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		request.RemoteAddr = remote
		answer := httptest.NewRecorder()
		s.Begin(http.NotFoundHandler()).ServeHTTP(answer, request)
		if answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/" {
			t.Errorf("%s is answered %d with %v", url, answer.Code, answer.Header())
		}
		for _, cookie := range answer.Result().Cookies() {
			return cookie
		}
		return nil
	}
	admitted := func(s *Session, cookie *http.Cookie) bool {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/me", http.NoBody)
		request.RemoteAddr = "127.0.0.1:1"
		if cookie != nil {
			request.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
		}
		return s.cookieOf(request) != ""
	}
	tests := map[string]struct {
		// use is what happens with the URL of the browser before its cookie is looked at.
		use  func(s *Session, url string) *http.Cookie
		want bool
	}{
		"the first visit": {func(s *Session, url string) *http.Cookie { return begin(s, url, "127.0.0.1:1") }, true},
		"a second visit takes the first one's cookie": {func(s *Session, url string) *http.Cookie {
			first := begin(s, url, "127.0.0.1:1")
			if second := begin(s, url, "127.0.0.1:2"); second != nil {
				t.Errorf("a second visit gets %v", second)
			}
			return first
		}, false},
		"a visit that is too late": {func(s *Session, url string) *http.Cookie {
			s.now = func() time.Time { return now.Add(time.Minute) }
			return begin(s, url, "127.0.0.1:1")
		}, false},
		"a visit from another machine": {func(s *Session, url string) *http.Cookie { return begin(s, url, "10.0.0.1:1") }, false},
		"an invented code":             {func(s *Session, url string) *http.Cookie { return begin(s, url+"x", "127.0.0.1:1") }, false},
		"no code at all":               {func(s *Session, _ string) *http.Cookie { return begin(s, "http://127.0.0.1:1/?code=", "127.0.0.1:1") }, false},
		"the URL that is shown to the user": {func(s *Session, _ string) *http.Cookie {
			return begin(s, s.URL("http://127.0.0.1:1/"), "127.0.0.1:1")
		}, true},
		"the oldest of too many browsers": {func(s *Session, url string) *http.Cookie {
			first := begin(s, url, "127.0.0.1:1")
			for range maxCookies {
				begin(s, s.URL("http://127.0.0.1:1/"), "127.0.0.1:1")
			}
			return first
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(&user.DefaultInfo{Name: "me"}, "1", func() time.Time { return now })
			url := s.BrowserURL("http://127.0.0.1:1/")
			if strings.Contains(url, s.secret) {
				t.Errorf("the URL of the browser has the secret: %s", url)
			}
			if got := admitted(s, test.use(s, url)); got != test.want {
				t.Errorf("admitted is %t, want %t", got, test.want)
			}
		})
	}
}

// TestAttackCookieOfAnotherPort has a second program on this machine, which gets the cookies of the first one, because browsers send
// them to every port of a host. It must not be able to replace them, and its own must not count.
func TestAttackCookieOfAnotherPort(t *testing.T) {
	t.Parallel()
	mine := newSession(&user.DefaultInfo{Name: "me"}, "8090", time.Now)
	other := newSession(&user.DefaultInfo{Name: "other"}, "8091", time.Now)
	for about, c := range map[string]struct {
		cookie http.Cookie
		want   bool
	}{
		"its own":                            {http.Cookie{Name: mine.cookieName, Value: mine.issue()}, true},
		"the other's":                        {http.Cookie{Name: other.cookieName, Value: other.issue()}, false},
		"the other's under the name of ours": {http.Cookie{Name: mine.cookieName, Value: other.issue()}, false},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/me", http.NoBody)
		request.RemoteAddr = "127.0.0.1:1"
		request.AddCookie(&http.Cookie{Name: c.cookie.Name, Value: c.cookie.Value})
		if got := mine.cookieOf(request) != ""; got != c.want {
			t.Errorf("%s: admitted is %t", about, got)
		}
	}
	if mine.cookieName == other.cookieName {
		t.Error("one replaces the cookie of the other")
	}
}
