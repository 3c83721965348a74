// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podset keeps a PodSet: a number of equal pods, held by a Deployment of the same name that the PodSet owns, and
// where spec.minAvailable is set by a PodDisruptionBudget. It promises that both follow the spec, that what others change
// in them is changed back, that an object of that name which is not the PodSet's own is never touched, and that the
// status tells what is.
//
// A pass goes through four phases:
//
//  1. observe reads the Deployment, the PodDisruptionBudget, the pods and their nodes from the cache, and where pods of a
//     PodSet with a pool are missing, the pool with its nodes (observe.go).
//  2. plan compares them with what the spec asks for (plan.go, child.go): pure.
//  3. act writes the difference, usually nothing (act.go).
//  4. explain says what about the pool keeps missing pods from coming (explain.go, package why), and rollout what is still
//     missing until all pods are available (status.go): pure.
//
// Whatever a pass met, it then describes it in the status with at most one write, and tells the events when that write
// has succeeded (status.go, events.go).
//
// All conditions of a PodSet are written here: ChildConflict by plan; Available, Progressing and ReplicaFailure, which
// are the Deployment's; Ready, Reconciling, Stalled and Paused, which internal/status computes from the others and from how
// the pass ended. There is no finalizer: what a PodSet owns is garbage-collected after it.
//
// A PodSet that waits for its pool is woken up by what the explanation is made of (wake.go); one whose pods are all there is not.
package podset
