// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package access decides who calls and what they may do, and speaks to the API server as the caller. Credentials never leave
// it.
//
//   - login.go: begins and ends the session of a browser
//   - identity.go: turns a request into a Caller, by a TokenReview, the cookie of a browser or a Session
//   - verdict.go: tells a token that is refused from one that could not be checked
//   - origin.go: whose pages may use a cookie
//   - session.go: local mode, in which requests act as the user of the kubeconfig
//   - rights.go: what a caller may read from the stores
//   - upstream.go: sends a request to the API server with the caller's credentials
//   - limit.go, streams.go, turns.go, budget.go: how much a caller may ask for, and what is held for them
//   - caller.go, address.go: what all of them share
package access
