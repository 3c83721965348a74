// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fleet calls the drivers of all configured hosts. Callers get a driver for a host by its name; what they get is a
// guard, which
//
//   - fails at once with machine.ErrUnreachable while the host is down,
//   - bounds how long each call may take, and how many calls a host serves at the same time,
//   - reports every call, for metrics.
//
// Besides, the fleet probes each host and watches its events, and passes both on as notices. Every host has its own
// goroutines: one that hangs delays no other.
//
// The files from the top: fleet.go is what callers see, guard.go makes their calls, member.go probes and watches one host.
package fleet
