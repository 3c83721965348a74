// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig keeps Kubeconfigs: a Secret with a way into a cluster. It promises that the Secret holds a kubeconfig that is valid
// and holds credentials only, that a token is renewed before it ends and is worth nothing once the object is deleted, and that
// nothing of somebody else's is touched, here or in the cluster.
//
// A pass goes through three phases:
//
//  1. observe reads the Cluster, its kubeconfig, and the Secret of this object (observe.go).
//  2. plan decides whether the Secret has to be written, and with what (plan.go): pure.
//  3. act writes it; for a token it first makes the ServiceAccount and its binding in the cluster (act.go, target.go).
//
// Whatever a pass met, it then describes it in the status with at most one write (status.go), and tells the events when that write has
// succeeded (events.go). The condition Issued is written here, the others by internal/status. Only tokens have a finalizer: what was
// made in the cluster for them has to be removed there.
package kubeconfig
