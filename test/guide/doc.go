// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guide reads the fenced blocks of a page in Markdown as its reader would run them, so that a test can do the same:
//
//   - ```console holds commands after "$ ", each followed by its output; a line with … or ... leaves output out;
//   - ```sh holds commands without output, one a line;
//   - ```yaml holds objects, or a part of one (a "fragment"), to apply;
//   - other blocks are not run.
//
// A comment right before a block changes how it is run. Several may follow each other:
//
//	<!-- not run: needs a libvirt host -->      skips the block; the reason is required
//	<!-- first: kubectl create namespace x -->  runs a command before the block that the reader need not know
package guide
