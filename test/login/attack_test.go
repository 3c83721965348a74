// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestAttackBrowserIsLoggedInAsSomebodyElse has somebody who logs in up to the last step, and has another browser take it: its person would
// work in their account.
func TestAttackBrowserIsLoggedInAsSomebodyElse(t *testing.T) {
	t.Parallel()
	s, attacker := newServer(t), newBrowser(t)
	link := attacker.link(s, attacker.begin(s, "/"))

	fresh, begun := newBrowser(t), newBrowser(t)
	begun.begin(s, "/")
	for about, victim := range map[string]*browser{"a browser that did not begin": fresh, "a browser that began a login of its own": begun} {
		victim.get(link).wantText(t, http.StatusBadRequest, "This browser did not begin this login")
		if victim.loggedIn(s) {
			t.Errorf("%s is logged in", about)
		}
	}
	attacker.get(link).wantText(t, http.StatusOK, "You are logged in as oidc:id1.")
}

// TestAttackCodeIsInjected has a code of one login in the answer to another, which has the right state.
func TestAttackCodeIsInjected(t *testing.T) {
	t.Parallel()
	s, attacker, victim := newServer(t), newBrowser(t), newBrowser(t)
	stolen, err := url.Parse(attacker.link(s, attacker.begin(s, "/")))
	must(t, err)
	link, err := url.Parse(victim.link(s, victim.begin(s, "/")))
	must(t, err)
	query := link.Query()
	query.Set("code", stolen.Query().Get("code"))
	link.RawQuery = query.Encode()
	victim.get(link.String()).wantText(t, http.StatusForbidden, "The OpenID provider refused the login: invalid_")
	if victim.loggedIn(s) {
		t.Error("the code of another login is good for a session")
	}
}

// TestAttackLoginIsReplayed opens the last step of a login again, with and without all cookies of the browser.
func TestAttackLoginIsReplayed(t *testing.T) {
	t.Parallel()
	s, b := newServer(t), newBrowser(t)
	link := b.link(s, b.begin(s, "/"))
	origin, err := url.Parse(s.base)
	must(t, err)
	copied := b.Jar.Cookies(origin) // before the last step
	b.get(link).wantText(t, http.StatusOK, "You are logged in")
	b.get(link).wantText(t, http.StatusBadRequest, "This browser did not begin this login")

	thief := newBrowser(t)
	thief.Jar.SetCookies(origin, copied)
	thief.get(link).wantText(t, http.StatusForbidden, "The OpenID provider refused the login: invalid_")
	if thief.loggedIn(s) {
		t.Error("a login is good for two sessions")
	}
}

// TestAttackReturnLeadsElsewhere begins logins that would end on a page of somebody else.
func TestAttackReturnLeadsElsewhere(t *testing.T) {
	t.Parallel()
	s, b := newServer(t), newBrowser(t)
	for _, to := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "/\t/evil.example", "javascript:alert(1)", "evil.example"} {
		b.get(s.base+"/v1/session/oidc?return="+url.QueryEscape(to)).wantText(t, http.StatusBadRequest, "must be a path of this server")
	}
}

// TestAttackProviderWritesAPage has words of a provider, or of somebody who made the link, that would be a page or control a terminal.
func TestAttackProviderWritesAPage(t *testing.T) {
	t.Parallel()
	s, b := newServer(t), newBrowser(t)
	link, err := url.Parse(b.link(s, b.begin(s, "/")))
	must(t, err)
	said := url.Values{
		"state": link.Query()["state"], "error": {"access_denied"}, "error_description": {"<script>alert(1)</script>\r\n\x1b[31m" + strings.Repeat("x", 4000)},
		"iss": {"https://evil.example"},
	}
	link.RawQuery = said.Encode()
	got := b.get(link.String())
	got.wantText(t, http.StatusForbidden, "The OpenID provider refused the login: access_denied: <script>")
	if strings.ContainsAny(strings.TrimSuffix(got.body, "\n"), "\r\n\x1b") || len(got.body) > 500 {
		t.Errorf("what the provider said is repeated as %q", got.body)
	}
}

// TestAttackSecretsOfTheProviderAreLogged looks for what a login at the provider has of secrets in the log of a gateway.
func TestAttackSecretsOfTheProviderAreLogged(t *testing.T) {
	t.Parallel()
	s, b := newServer(t), newBrowser(t)
	link, err := url.Parse(b.link(s, b.begin(s, "/")))
	must(t, err)
	origin, err := url.Parse(s.base)
	must(t, err)
	secrets := map[string]string{"the code": link.Query().Get("code"), "the state": link.Query().Get("state"), "the client's secret": clientSecret}
	note := func() {
		for _, cookie := range b.Jar.Cookies(origin) {
			secrets["the cookie "+cookie.Name] = cookie.Value
		}
	}
	note()
	b.get(link.String()).wantText(t, http.StatusOK, "You are logged in")
	note()
	b.get(s.base + "/v1/services")
	b.get(link.String()) // which fails
	b.open(http.MethodDelete, s.base+"/v1/session", "")
	seen := s.log.text()
	if len(secrets) != 5 || !strings.Contains(seen, "Login failed") || !strings.Contains(seen, "Logout") {
		t.Errorf("there are %d secrets; the log is %s", len(secrets), seen)
	}
	for about, secret := range secrets {
		if strings.Contains(seen, secret) {
			t.Errorf("%s is in the log: %s", about, seen)
		}
	}
	if strings.Contains(seen, "eyJ") {
		t.Errorf("a token is in the log: %s", seen)
	}
}
