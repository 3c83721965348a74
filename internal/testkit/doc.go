// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testkit tests reconcilers on a real API server, one pass at a time.
//
// Main starts an API server with etcd for a package's tests. New gives a test a client like the manager's (cached,
// trimmed, reading its own writes), a client without a cache, a clock and an event recorder. Settle reconciles an object
// until a pass writes nothing, and holds every status on the way against the status contract, so that each test of a
// controller is also one of its truthfulness.
package testkit
