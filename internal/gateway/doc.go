// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gateway serves the HTTP API: what the console and a script need, with the caller's own rights.
//
//   - server.go puts the parts together; listen.go accepts connections
//   - api/ has the routes, feed/ the objects and their changes, access/ who calls and what they may do
//   - view/ has the pure read models that all of them share, client/ the typed client
//
// docs/design/0020-http-api.md says why it is built this way.
package gateway
