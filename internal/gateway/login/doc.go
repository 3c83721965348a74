// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package login holds the sessions of browsers: what a cookie stands for, and until when. It knows neither Kubernetes nor rights.
//
//   - table.go: the sessions, in memory
//   - seal.go: a token at rest, which only its cookie opens
//   - cookie.go: what a browser is given
//   - expiry.go: until when a token says it is valid
package login
