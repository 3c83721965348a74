// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import "net/http"

// SecureCookie is the name of the cookie over TLS. Browsers accept a name with this prefix only from the host itself, over TLS and for all
// of its paths, so that no other host of the domain can set it.
const SecureCookie = "__Host-windlass-session"

// Cookies name the cookie of a server.
type Cookies struct {
	// Port of the server. It is in the name of the cookie of a server without TLS, because browsers send the cookies of
	// 127.0.0.1 to each of its ports.
	Port string
}

func (c Cookies) name(r *http.Request) string {
	if r.TLS != nil {
		return SecureCookie
	}
	return "windlass-login-" + c.Port
}

// Value returns the value of the cookie of the request; empty if it has none.
func (c Cookies) Value(r *http.Request) string {
	sent, err := r.Cookie(c.name(r))
	if err != nil {
		return ""
	}
	return sent.Value
}

// Set gives the browser the cookie until it is closed: the server knows when the session ends.
func (c Cookies) Set(w http.ResponseWriter, r *http.Request, value string) {
	http.SetCookie(w, c.cookie(r, value, 0))
}

// Clear takes the cookie from the browser.
func (c Cookies) Clear(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, c.cookie(r, "", -1))
}

func (c Cookies) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // because not every browser sends a secure cookie to http://127.0.0.1
		Name: c.name(r), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
}
