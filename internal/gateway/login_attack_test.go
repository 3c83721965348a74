// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
)

// TestAttackCookieIsReplayedAfterLogout has a cookie that somebody has copied from a browser.
func TestAttackCookieIsReplayedAfterLogout(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token := r.user(t, "", everything())
	first, second := r.logIn(t, token), r.logIn(t, token)
	r.do(t, http.MethodDelete, "/v1/session", "", "", "Cookie", first)
	for _, path := range []string{"/v1/session", "/v1/nodes", "/v1/me"} {
		got := r.do(t, http.MethodGet, path, "", "", "Cookie", first)
		if got.status != http.StatusUnauthorized || got.problem(t).Code != "SessionEnded" {
			t.Errorf("%s after logging out: %d %s", path, got.status, got.body)
		}
	}
	if got := r.do(t, http.MethodGet, "/v1/nodes", "", "", "Cookie", second); got.status != http.StatusOK {
		t.Errorf("the other browser of the user: %d", got.status)
	}
}

// TestAttackSessionIsFixed has somebody who plants a cookie in a browser and waits until its user logs in.
func TestAttackSessionIsFixed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	attacker := r.logIn(t, r.user(t, "default"))
	name, _, _ := strings.Cut(attacker, "=")
	for about, planted := range map[string]string{"a session of their own": attacker, "an invented value": name + "=planted"} {
		cookie := r.logIn(t, r.user(t, "", everything()), "Cookie", planted)
		if cookie == planted {
			t.Errorf("%s: the planted cookie is kept", about)
		}
		if got := r.do(t, http.MethodGet, "/v1/nodes", "", "", "Cookie", planted); got.status != http.StatusUnauthorized {
			t.Errorf("%s: the planted cookie is good for %d", about, got.status)
		}
		if got := r.do(t, http.MethodGet, "/v1/nodes", "", "", "Cookie", cookie); got.status != http.StatusOK {
			t.Errorf("%s: the user's own is good for %d", about, got.status)
		}
	}
}

// TestAttackForeignPageUsesTheCookie has pages of other origins, to which a browser lends the cookie where they are of the same site.
func TestAttackForeignPageUsesTheCookie(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Session = true })
	begun := r.do(t, http.MethodGet, "/?session="+secretOf(t, r.g), "", "").cookie(t)
	for about, cookie := range map[string]string{"a login": r.logIn(t, r.user(t, "", everything())), "local mode": begun} {
		for _, header := range [][]string{
			{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://127.0.0.1:1"}, {"Origin", "null"},
		} {
			for _, request := range [][2]string{
				{http.MethodGet, "/v1/nodes"}, {http.MethodGet, "/v1/session"}, {http.MethodDelete, "/v1/session"}, {http.MethodDelete, "/v1/nodes/a"},
			} {
				got := r.do(t, request[0], request[1], "", "", append([]string{"Cookie", cookie}, header...)...)
				if got.status != http.StatusForbidden || got.problem(t).Code != "CrossOrigin" {
					t.Errorf("%s: %v from %v: %d %s", about, request, header, got.status, got.body)
				}
			}
			for _, upgrade := range [][]string{{"Accept", feed.MediaType}, {"Connection", "Upgrade", "Upgrade", "websocket"}} {
				headers := append(append([]string{"Cookie", cookie}, header...), upgrade...)
				if status, _ := r.eventSource(t, "/v1/watch", headers...); status != http.StatusForbidden {
					t.Errorf("%s: a stream from %v: %d", about, header, status)
				}
			}
		}
		if got := r.do(t, http.MethodGet, "/v1/nodes", "", "", "Cookie", cookie); got.status != http.StatusOK {
			t.Errorf("%s: afterwards it is good for %d", about, got.status)
		}
	}
}

// TestAttackForeignPageLogsIn has a page that logs a browser in as somebody else, so that its user tells them what they do.
func TestAttackForeignPageLogsIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := `{"token":"` + r.user(t, "default") + `"}`
	for about, c := range map[string]struct {
		header []string
		status int
	}{
		"a page of another origin":   {[]string{"Origin", "https://evil.example"}, http.StatusForbidden},
		"a page of another site":     {[]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"a form of an old browser":   {[]string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},
		"a form with encoded fields": {[]string{"Content-Type", "application/x-www-form-urlencoded"}, http.StatusUnsupportedMediaType},
	} {
		got := r.do(t, http.MethodPost, "/v1/session", "", body, c.header...)
		if got.status != c.status || len(got.header.Values("Set-Cookie")) > 0 {
			t.Errorf("%s: %d with %v", about, got.status, got.header)
		}
	}
}

// TestAttackTokensOfLoginsAreLogged logs in, well and badly, and looks for the tokens and cookies in every line of the log and in every answer.
func TestAttackTokensOfLoginsAreLogged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	good := r.user(t, "default")
	cookie := r.logIn(t, good)
	_, value, _ := strings.Cut(cookie, "=")
	var answers strings.Builder
	for body, status := range map[string]int{
		`{"token":"canary-refused"}`:                            http.StatusUnauthorized,
		`{"token":"canary` + strings.Repeat("x", 8192) + `"}`:   http.StatusUnprocessableEntity,
		`{"token":"canary` + strings.Repeat("x", 16<<10) + `"}`: http.StatusRequestEntityTooLarge,
		`{"token":["canary"]}`:                                  http.StatusUnprocessableEntity,
		`{"token":"canary`:                                      http.StatusBadRequest,
		`{"token":"","canary":"canary-value"}`:                  http.StatusUnprocessableEntity,
		`{}`:                                                    http.StatusUnprocessableEntity,
	} {
		got := r.do(t, http.MethodPost, "/v1/session", "", body)
		answers.Write(got.body)
		if got.status != status || len(got.header.Values("Set-Cookie")) > 0 {
			t.Errorf("%.40s: %d %s", body, got.status, got.body)
		}
	}
	r.do(t, http.MethodGet, "/v1/services", "", "", "Cookie", cookie)
	r.do(t, http.MethodDelete, "/v1/session", "", "", "Cookie", cookie)
	seen := strings.Join(r.log.with(""), "\n") + strings.ReplaceAll(answers.String(), "body.canary", "")
	for about, secret := range map[string]string{"the token": good, "the cookie": value, "a bad token": "canary"} {
		if strings.Contains(seen, secret) {
			t.Errorf("%s is in the log or in an answer: %s", about, seen)
		}
	}
}
