// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package node keeps the labels and taints of nodes as their pools want them. It is keyed by node, because a node may be in
// many pools and only one writer can weigh them against each other: one pass reads all pools, computes one plan and sends
// one patch, or none. It owns no status; the pool controller counts what this one has done.
//
// The passes: (1) fetch the node and the pools from the cache, (2) compute the plan with package membership, (3) send it as
// one merge patch, (4) tell by events what somebody else had changed or what was left behind.
package node
