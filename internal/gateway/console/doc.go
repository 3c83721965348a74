// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package console serves the web console, whose files are in the program.
//
//   - console.go: which path has which answer
//   - page.go: the page with its policy for browsers
//   - files.go: the files that web/ builds, as they are embedded
//
// "make build" builds web/ into dist/app if there is a Node. A program that was built without it serves a page that says so, and the API
// is the same. The package knows nothing of users: its files are open to everybody, and the page asks the API who is there.
package console
