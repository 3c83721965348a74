// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package poolaccess writes the admission policies and bindings by which pods choose a pool, and by which the API server keeps pods from a
// pool. Package admission describes the objects; this package is the only one that creates, changes or deletes them.
//
// There are two kinds of keys. The key of a pool is for the objects of that pool. The key "*" is for the objects that all pools
// share: they exist once, so one owner decides about them, and no pool does.
//
// The passes over either key: (1) find the objects in the cache, (2) plan, (3) if the plan creates objects, or deletes them because
// no pool is left, ask the API server whether the pools are what the cache says, (4) delete objects that are not wanted, (5) write
// objects that are missing or different. The objects that keep other namespaces out come first, and the first refusal ends the
// step. (6) Note the refusal on the pools.
//
// Deletion never creates anything. A pool that is being deleted loses the objects that bring it pods at once, and keeps the objects
// that keep other namespaces out until it is gone: these have no owner reference, by which the garbage collector would take them first
// where a pool is deleted in the foreground. Then this package deletes them. The shared objects are deleted after the last pool.
// Leftovers from a time when Windlass did not run are found when the caches list them at the start.
//
// This package writes no status. Package nodepool finds the same objects in its cache, creates the RuntimeClass only when other
// namespaces are kept out, and reports the rest in the condition AdmissionReady. Neither waits for the other to delete a pool.
package poolaccess
