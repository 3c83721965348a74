// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodepool keeps what a pool has only one of: its finalizer, its RuntimeClass, its ledger and its status. The labels
// and taints of its nodes are written by package node, one node at a time; this package counts the result.
//
// The passes over a pool that lives: (1) the finalizer, before anything else is touched, (2) the RuntimeClass, which tolerates
// the taints that nodes have now as well as those that they are about to get, (3) the ledger, which allows package node to
// put new keys on nodes, (4) under spec.rollout, whose turn it is to get them, (5) once every node follows, a ledger and with it a
// RuntimeClass without the keys that are gone. Nodes that left are counted before they are let go, and under spec.drain emptied of
// the pool's pods in between.
// Each step is allowed by what the one before it has written, so a crash between any two is made up for by the next pass.
//
// The passes over a pool that is being deleted: (1) wait until nobody uses it, or drain its nodes, and until package node has
// cleaned every one of them, (2) make sure of it with a
// read past the cache, (3) delete the RuntimeClass, (4) remove the finalizers, the one of the operator before Windlass
// included.
//
// This package writes all conditions of a NodePool: RuntimeClassReady in step 2, NodesSynced and Conflicted from the counts,
// RolledOut and Drained from what the status says of turns and drains.
package nodepool
