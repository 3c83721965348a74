// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"net/http"
	"time"
)

// SecureCookie is the name of the cookie over TLS. Browsers accept a name with this prefix only from the host itself, over TLS and for all
// of its paths, so that no other host of the domain can set it.
const SecureCookie = "__Host-windlass-session"

// pendingAge is how long a browser keeps a login that has begun, in seconds.
const pendingAge = int(beginTTL / time.Second)

// Cookies name the cookies of a server.
type Cookies struct {
	// Port of the server. It is in the name of the cookie of a server without TLS, because browsers send the cookies of
	// 127.0.0.1 to each of its ports.
	Port string
}

// Names of cookies: of a session, and of a login at a provider that has begun.
const (
	sessionCookie = "session"
	pendingCookie = "login"
)

func (c Cookies) name(r *http.Request, of string) string {
	if r.TLS != nil {
		return "__Host-windlass-" + of
	}
	return "windlass-" + of + "-of-" + c.Port
}

// Session returns the cookie of the session of the request; empty if it has none.
func (c Cookies) Session(r *http.Request) string { return value(r, c.name(r, sessionCookie)) }

// Pending returns the cookie of a login that has begun; empty if the request has none.
func (c Cookies) Pending(r *http.Request) string { return value(r, c.name(r, pendingCookie)) }

func value(r *http.Request, name string) string {
	sent, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return sent.Value
}

// SetSession gives the browser the cookie of a session until it is closed: the server knows when the session ends. An empty one is taken from
// the browser.
func (c Cookies) SetSession(w http.ResponseWriter, r *http.Request, value string) {
	c.set(w, r, sessionCookie, value, 0, http.SameSiteStrictMode)
}

// SetPending gives the browser the cookie of a login that has begun. The provider sends the browser back from its own site, so that
// a strict cookie would not come.
func (c Cookies) SetPending(w http.ResponseWriter, r *http.Request, value string) {
	c.set(w, r, pendingCookie, value, pendingAge, http.SameSiteLaxMode)
}

func (c Cookies) set(w http.ResponseWriter, r *http.Request, of, value string, age int, site http.SameSite) {
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // because not every browser sends a secure cookie to http://127.0.0.1
		Name: c.name(r, of), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: r.TLS != nil, SameSite: site,
	})
}
