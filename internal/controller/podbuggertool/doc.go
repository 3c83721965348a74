// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podbuggertool keeps PodBuggerTools: it finds the running pods of a tool's namespace that match and gives each one an
// ephemeral container. It promises that a pod gets a tool at most once, that several tools for one pod come in one write, that
// the containers a pod has stay as they are, that no pod of another namespace is touched, and that maxPods holds.
//
// A pass goes through four phases:
//
//  1. observe reads the pods and the tools of the namespace (observe.go, pods.go).
//  2. plan chooses the pods that get the tool, and what else the same write can bring them (plan.go): pure.
//  3. act writes, one patch of the subresource ephemeralcontainers for each pod (act.go).
//  4. follow says what is still missing (status.go): pure.
//
// Whatever a pass met, it then describes it in the status with at most one write, and tells the events when that write has
// succeeded (status.go, events.go). All conditions are written here: Installed and Limited by describe, the others by
// internal/status.
//
// There is one worker. Two passes at once could both give the last place under maxPods away, and would each write the pods that
// two tools share. A pass never waits for a pod: pods that do not run yet wake the tool up when they do. There is no finalizer,
// because there is nothing to undo: an ephemeral container cannot be removed from a pod.
//
// Only the pods of namespaces that have a tool are cached, each namespace from its first tool to its last (pods.go).
package podbuggertool
