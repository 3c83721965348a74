// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package poolaccess keeps the admission policies and bindings by which pods choose a pool, or are kept from it. Package admission
// says what has to exist; this package is the only one that creates, changes and deletes it.
//
// It has two kinds of keys. The key of a pool is for the objects that the pool owns. The key "*" is for the objects that all pools
// share: they exist once, so they have one owner, and no pool decides on them.
//
// A pass over either key: (1) find the objects in the cache, (2) plan, (3) where the plan creates something, or deletes for good,
// ask the API server whether the pools are as the cache says, (4) delete what is not wanted any more, (5) write what is missing
// or different, first what keeps pods from the pool, and nothing further once the API server refuses one of them, (6) note on
// the pool what the API server refused.
//
// Deletion never creates anything. A pool that is being deleted keeps what keeps others from it until it is gone, and loses the
// rest at once. What is left of it then is deleted by this package, and by the garbage collector through the owner reference. The
// shared objects go after the last pool. What an operator that was stopped left behind is found when the caches list it
// at the start.
//
// Nothing here writes a status, and no pool waits for this package to be deleted. Package nodepool sees the objects in its
// own cache, creates the RuntimeClass only when what keeps others from the pool is in place, and tells the rest in the condition
// AdmissionReady.
package poolaccess
