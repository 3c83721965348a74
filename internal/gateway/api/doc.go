// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api is the routes of the HTTP API and what is in front of them.
//
//   - api.go, guard.go, admit.go: the handler of everything, and what every request passes; held.go: how much is held for callers
//   - routes.go: the routes of all kinds; apps.go, watch.go and me.go: those that are not about one kind
//   - list.go, read.go, write.go, apply.go: what the routes of a kind do
//   - sketch.go: the part of a body that the gateway reads; pin.go: what holds a write to the object that its caller has seen
//   - table.go, events.go, pods.go, kinds.go, overview.go: tables, events, pods, what kinds there are, and routes over all kinds
//   - text.go: texts that are sent as they come; hosts.go, output.go, runs.go: those that only the manager reaches
//   - console.go, terminal.go: the console of a machine as a WebSocket
//   - usage.go: what objects have used; machinehosts.go: the hosts of machines
//   - objectactions.go, drain.go, download.go: actions on objects; actions.go: how they are decided and written
//   - operation.go, document.go: how routes are described in OpenAPI; schemas.go: how objects and events are
//   - represent.go, coding.go, reply.go, problems.go: how they answer
package api
