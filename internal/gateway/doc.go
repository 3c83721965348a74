// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gateway is the HTTP API: what the console and a script need, with the caller's own rights.
//
//   - kind.go: the table of kinds, from which routes, rights, stores and documentation follow
//   - server.go, listen.go: what is in front of every route, and the listener
//   - identity.go, session.go: who calls; rights.go: what he may read from the stores
//   - store.go, hub.go, feed.go: objects as they are served, who follows them, where they come from
//   - upstream.go: the API server, asked with the caller's own credentials
//   - list.go, read.go, write.go, apps.go, stream.go: the routes
//
// docs/design/0020-http-api.md says why it is so.
package gateway
