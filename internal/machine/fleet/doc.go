// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fleet calls the drivers of all configured hosts. Callers get a driver for a host by its name; what they get is a
// guard, which
//
//   - fails at once with machine.ErrUnreachable while the host is down,
//   - bounds how long each call takes (Limits) and how many calls a host serves at the same time,
//   - reports every call, for metrics.
//
// These are the only limits in the program: a driver works until its context ends.
//
// The fleet also probes each host and watches its events, and passes both on as notices. Every host has goroutines of its own:
// a host that hangs delays no other.
//
// From the top: fleet.go is what callers see; guard.go makes their calls, in the slots of lane.go; probe.go and watch.go follow one host, rest.go spares one
// that is slow, and notice.go is what they notify of; member.go is what is known about a host; pace.go says how often it is tried, and
// options.go how long a call may take.
package fleet
