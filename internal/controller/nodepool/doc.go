// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodepool keeps what a pool has only one of: its finalizer, its RuntimeClass, its ledger and its status. Package node writes
// the labels and taints of nodes, one node at a time, and package drain empties the nodes that leave. This package counts the nodes
// and decides what the others may do.
//
// The passes over a pool that lives: (1) the finalizer, before anything else is touched, (2) the clearances of the nodes that left,
// once they have been counted, and under spec.drain the entries of those that have to be emptied first, (3) the RuntimeClass, which
// tolerates the taints that nodes have now as well as those that they are about to get, and selects a member label that every member
// has, (4) the ledger, which allows package node to
// put new keys on nodes, and under spec.rollout the batch of nodes that may get them, (5) once every node follows, a ledger and with
// it a RuntimeClass without the keys that are gone. Each step is allowed by what the one before it has written, so the next pass
// makes up for a crash between any two. A pool that is paused, in dry run or stalled only notes the originals that others hand over.
//
// The passes over a pool that is being deleted: (1) wait until no pod uses it, or until its nodes are drained, and until package node
// has cleaned every one of them, (2) make sure of it with a read past the cache, (3) delete the RuntimeClass, (4) remove the
// finalizers, including the one of the operator before Windlass.
//
// This package writes all conditions of a NodePool: RuntimeClassReady from what step 3 found or wrote, NodesSynced and Conflicted from
// the counts, RolledOut and Drained from what the status says of batches and drains, AdmissionReady from what package poolaccess
// has written.
package nodepool
