// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package feed holds the objects that the API serves and streams their changes.
//
//   - hub.go: the kinds, each with its store; a reader joins and leaves here
//   - reflect.go: watches the API server and fills the stores
//   - stream.go, snapshot.go: one reader's connection
//   - store.go: the objects of one kind, encoded once, and the readers of the kind
//   - journal.go: numbers all changes and keeps the last ones, so that a reader can resume
//   - reader.go: the bounded queue of one reader
//   - sse.go: every byte of an event stream is put together here
//
// The package knows nothing of users: a stream is told by its Permissions what its reader may see.
package feed
