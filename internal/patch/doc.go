// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package patch writes to the API server: the status and the finalizers of Windlass' own objects, and the children that it
// owns. Every function first checks whether there is anything to write, because a write that changes nothing costs the API
// server nearly as much as one that does. Nothing here ever sends a whole object back: what comes from a trimmed cache
// would erase what the cache left out.
package patch
