// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package virtualmachine reconciles VirtualMachines: machines that a driver of package machine runs on a host. It promises that
// there is at most one machine for an object, on the host that was recorded before anything was created there; that the machine
// matches the spec, or the status says why not; that the next pass continues where the last one ended, whatever crashes in
// between; and that nothing is done on a host that does not answer.
//
// A pass over an object that is not being deleted has these phases:
//
//  1. locate finds out where the machine is (observe.go).
//  2. claim chooses a host for a machine that has none, or whose host is down and was never used (room.go, claims.go, survey.go, place.go).
//  3. hold adds the finalizer (act.go).
//  4. observe asks the host for the machine, reads the Secrets that the spec names, and looks at the operation that an earlier pass
//     has started (observe.go, secrets.go).
//  5. fit compares the size that the machine is to have with the free capacity of its host (grow.go).
//  6. plan compares that with the spec and decides on the next operation, if any (plan.go, power.go, owed.go, suspend.go, planner.go, refusal.go,
//     failure.go, disks.go): pure.
//  7. operate starts the operation, or cancels one that the spec no longer wants (act.go). The pass that has chosen a host starts
//     none: its status records the host, and the next pass starts what is to be done there.
//
// A pass over an object that is being deleted locates and observes, plans the removal (removal.go) and releases the object (act.go). Every pass
// ends by describing what it met with at most one status write (status.go, conditions.go, words.go). The events follow when that write has
// succeeded (events.go).
//
// Fetching an image, creating, starting, stopping and removing a machine may take minutes. These steps run outside of the workers,
// in package internal/machine/operation. So no machine waits for the image of another one. Notices wakes an object when something
// happens to its machine or to the host (notices.go).
//
// This package writes all conditions: DriverReady, ImageReady, Provisioned, PowerSynced, ResourcesSynced, RestartRequired and
// SoftwareEmulation from the observation and the plan; Ready, Reconciling, Stalled and Paused are computed from them by
// internal/status. In the status, only server.usage belongs to package machineusage.
package virtualmachine
