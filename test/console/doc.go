// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package console visits the web console in a real browser, in front of a real API server.
//
// The browser is Debian's chromium, driven by playwright-core from web/node_modules. Where one of them or the built console is missing,
// the test is skipped and says what is missing.
package console
