// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podset reconciles PodSets: a number of identical pods, run by a Deployment of the same name that the PodSet owns, and
// protected by a PodDisruptionBudget if spec.minAvailable is set. It promises that both follow the spec, that changes of others are
// reverted, and that an object of that name which the PodSet does not own is never touched.
//
// A pass goes through four phases:
//
//  1. observe reads the Deployment, the PodDisruptionBudget, the pods and their nodes from the cache, and where pods of a
//     PodSet with a pool are missing, the pool with its nodes (observe.go).
//  2. plan compares them with what the spec asks for (plan.go, child.go): pure.
//  3. act writes the difference, usually nothing (act.go).
//  4. explain says what about the pool keeps missing pods from starting (explain.go, package why), and rollout what is still
//     missing until all pods are available (status.go): pure.
//
// The rest of a pass is that of every kind (internal/flow). describe sets the condition ChildConflict, and passes on Available,
// Progressing and ReplicaFailure of the Deployment. There is no finalizer: the garbage collector deletes what a PodSet owns.
//
// How far a rollout is, is written from time to time, and a first status that only says that it has begun may be left out
// (docs/design/0053-progress-may-wait.md).
//
// A change of the pool, its nodes or the namespace wakes up only PodSets whose pods are missing (wake.go).
package podset
