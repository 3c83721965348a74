// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package usage remembers how much CPU and memory machines and nodes have used in the last hours, in memory.
//
// A Recorder (recorder.go) takes one figure a minute of each: of machines from the status of their VirtualMachines, of nodes from
// metrics.k8s.io, where somebody serves it. Rings (rings.go) keep them, within a fixed number of objects and points. What they do not
// reach back to is in Prometheus, if there is one: a History (history.go) asks it for a Span (span.go).
package usage
