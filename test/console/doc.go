// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package console visits the web console in a real browser, in front of a real API server.
//
// TestFirstVisit opens it in front of an API server alone. TestShowcase opens every page in front of a whole cluster with what "make run"
// shows, in both themes and languages, on a phone, by keyboard, as a user of one namespace, and while the API server is frozen and killed.
// "make screenshots" keeps a picture of each page. They are looked at and not compared: fonts differ between machines.
//
// The browser is Debian's chromium, driven by playwright-core from web/node_modules. Where one of them or the built console is missing,
// the tests are skipped and say what is missing.
package console
