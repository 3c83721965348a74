// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package virtualmachine keeps a VirtualMachine: a machine that a driver of package machine runs on a host. It promises that
// there is at most one machine for an object, on the host that was recorded before anything was made there; that the machine is
// as the spec says, or the status says why not; that whatever dies in between, the next pass goes on where the last one
// ended; and that nothing is done on a host that does not answer.
//
// A pass over a machine that lives goes through these phases:
//
//  1. place writes the finalizer and the host, in one patch, before the first call of a driver (placing.go).
//  2. observe asks the host for the machine, reads the Secrets that the spec names, and looks how the operation stands that an
//     earlier pass has started (observe.go, secrets.go).
//  3. plan compares that with the spec and decides on the steps of the next operation, if any (plan.go, power.go): pure.
//  4. act starts the operation, or cancels the one that the spec no longer wants (act.go).
//
// One that is being deleted goes through observe, and then retire decides and release lets it go (deletion.go). Whatever a pass
// met, it describes it in the status with at most one write (status.go, conditions.go), and tells the events when that write has
// succeeded (events.go).
//
// Fetching an image, making, starting, stopping and removing a machine may take minutes. They run as operations, outside of the
// workers: one at a time for a machine, some at a time for a host, kept until a pass has written down how they ended
// (operations.go). So no machine waits for the image of another one.
//
// Beside the queue there are, on the leader only: for every host a watcher that wakes the machines up to which something happened
// (watch.go), a sampler that reads counters for the metrics and now and then for the status (sampler.go, metrics.go), and a
// sweep that looks for machines without an object (sweep.go).
//
// All conditions are written here: DriverReady, ImageReady, Provisioned, PowerSynced, ResourcesSynced, RestartRequired and
// SoftwareEmulation from the observation and the plan; Ready, Reconciling, Stalled and Paused are computed from them by
// internal/status. Of the status, server.usage alone belongs to the sampler.
package virtualmachine
