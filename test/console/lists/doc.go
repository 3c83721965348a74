// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lists visits the lists of the web console, the map of the nodes and the rehearsal of a pool in a real browser, and measures how
// smoothly they run.
package lists
