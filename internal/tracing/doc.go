// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tracing records what Windlass does as OpenTelemetry traces: passes of controllers with their phases, calls of drivers, and runs
// of provisioning tools. Until Start is called nothing is recorded.
//
// Attributes are names, kinds and numbers, and an error is told by its kind. Messages of errors stay in the log: they can quote what a
// host or a tool has answered.
//
// What is recorded waits in a queue of bounded length for a goroutine that sends it. A collector that is slow or away costs spans, never
// time.
package tracing
