// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package action says what the actions of the HTTP API and of the plugin of kubectl change: each is a function that changes an object as
// kubectl would, or returns why the state of the object makes the action meaningless. The package is pure: it has no client and no
// clock. Its callers send what differs.
//
//   - machine.go: power and size of VirtualMachines
//   - rollout.go: rollouts of Deployments and PodSets
//   - drain.go: which pods of a node are evicted, and which stay
//   - consent.go: what NodePools and Clusters wait for
//   - pause.go: the annotation that pauses an object
//   - kubeconfig.go: whether a Secret has the kubeconfig of a Kubeconfig
//   - patch.go: what an action has changed, as a patch
package action
