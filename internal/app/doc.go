// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package app is the composition root: the only place that knows every part of Windlass and puts them together. Commands
// parse a configuration, preflight asks the API server whether it can work at all, and the manager runs the controllers
// that the table in controllers.go lists.
//
// If something is missing, Windlass prints one sentence that says what to do, and no log: everything that can be known to
// fail is checked before anything starts.
package app
