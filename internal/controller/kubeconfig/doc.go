// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig reconciles Kubeconfigs: each is a Secret with access to a cluster. It promises that the Secret holds a valid
// kubeconfig with nothing but credentials in it, that a token is renewed before it expires, that it is revoked when the object is deleted
// or asks for another type, cluster or ServiceAccount, and that nothing of anybody else's is touched, neither here nor in the cluster.
//
// A pass goes through three phases:
//
//  1. observe reads the Cluster, its kubeconfig, the Secret of this object, and the one that a former spec named (observe.go).
//  2. plan decides whether something has to be revoked (revoke.go), whether the Secret has to be written, and with what (plan.go): pure.
//  3. act revokes and writes; for a token it first makes the ServiceAccount and its binding in the cluster (act.go, target.go). The pass that
//     decides on another ServiceAccount or cluster makes nothing there: its status is the record of them, and the next pass goes on.
//
// Each pass then describes what it found in the status, with at most one write (status.go), and records events after that write, those
// of what it has done also if the write has failed (events.go). The condition Issued is written here, the others by internal/status. Only tokens have a finalizer: what was
// made in the cluster for them must be removed there.
package kubeconfig
