// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"net/http"
	"net/url"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// fromOwnPage reports whether a request with a cookie can be from a page of ours. SameSite=Strict lets pages of the same site through, which on 127.0.0.1 are
// those of every port. A page of another origin could not read an answer, but could open streams and WebSockets as the user. Programs
// send neither header.
func fromOwnPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "same-origin" || site == "none" {
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return site == ""
	}
	// Some browsers send only an Origin with the request for a WebSocket.
	page, err := url.Parse(origin)
	return err == nil && page.Host == r.Host && (r.TLS == nil || page.Scheme == "https")
}

func foreignPage() *view.Problem {
	return view.NewProblem(http.StatusForbidden, "CrossOrigin", "The request comes from a page of another origin.")
}
