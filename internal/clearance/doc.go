// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clearance passes a decision from the controller of pools to the controller of nodes: which nodes may leave which pool.
//
// A typing error in a selector, or a tool that strips labels, must not empty a pool. So the controller of pools counts the nodes
// that leave before it lets them go, and the controller of nodes cleans a node only with a clearance. Both run in one process, and
// what they share is lost with it: after a start no node has a clearance until its pool has been counted.
//
// A clearance is also an event. Wakeups puts a node into the queue of its controller when it gets one, so that nothing has to ask
// again and again.
//
// In the other direction goes which pools a node is being written for: a pool must not forget a key, or go, while one that it no longer wants
// may still come to a node.
package clearance
