// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podbuggertool reconciles PodBuggerTools: it gives the matching running pods of a namespace an ephemeral container. It
// promises that a pod gets a tool at most once, that several tools for one pod come in one write, that the other containers of a pod
// stay as they are, that a tool reaches no other namespace, and that maxPods holds.
//
// A pass goes through four phases:
//
//  1. observe reads the pods and the tools of the namespace (observe.go, pods.go, roster.go).
//  2. plan chooses the pods that get the tool, and what else the same write can bring them (plan.go): pure.
//  3. act writes one patch of the subresource ephemeralcontainers for each pod (act.go).
//  4. follow says what is still missing (status.go): pure.
//
// The rest of a pass is that of every kind (internal/flow). describe sets the conditions Installed and Limited.
//
// There is one worker. Two concurrent passes could both assign the last pod that maxPods allows, and would both write pods that two
// tools share. A pass never waits for a pod: a pod that starts wakes the tool up. It ends once writes that failed have taken ten seconds, so that a
// webhook that hangs does not hold the tools of other namespaces. There is no finalizer, because there is nothing to undo: an ephemeral container
// cannot be removed from a pod.
//
// The pods of a namespace are cached from its first tool to its last; other pods are not cached (pods.go). They are kept sorted for
// each tool (roster.go), so that a change of one pod costs as much among many pods as among few.
package podbuggertool
