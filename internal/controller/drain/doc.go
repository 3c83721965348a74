// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package drain empties nodes that leave a pool under spec.drain: it evicts the pods that chose the pool. It is keyed by node and owns
// no status. The pool controller enters a node into the pool's status, package node takes the membership off it so that no pod
// comes back, this package evicts, and the pool controller writes down how far it has come.
//
// The passes: (1) find the pools that the node is being drained for, make sure of it past the cache, and list the pods on the node, (2) plan for each of
// them which pods to evict, or that the drain is over, (3) evict through the Eviction API, which keeps disruption budgets, (4)
// report the progress, which wakes the pool. Pods are not watched, so a drain that is not over is looked at again. A drain whose time is over ends
// once this process has asked for each pod that was there when the drain began or resumed.
package drain
