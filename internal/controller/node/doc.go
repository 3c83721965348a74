// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package node keeps the labels, annotations and taints of nodes as their pools want them. It is keyed by node, because a node may be in
// many pools and only one writer can weigh them against each other: one pass reads all pools, computes one plan and sends
// one patch, or none. It owns no status; the pool controller counts what this one has done.
//
// The passes: (1) fetch the node and the pools from the cache, (2) compute the plan with package membership, (3) send it as
// one merge patch, if the pools are there as the cache has them, (4) record events about what another writer had changed and what was left behind.
//
// A node that left a pool keeps what it carries until it has a clearance (see package clearance), which wakes it. A patch that comes
// too late, because the node has changed, is planned anew.
//
// Another writer may insist on its own value of a key. A node that has been given the same a few times within a minute is left as it is for the rest of
// that minute, unless something else is due.
//
// A node that is being deleted is written as any other. Finalizers may keep it for hours, and rollouts, drains and pools that are being
// deleted wait for every node there is.
package node
