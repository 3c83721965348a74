// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package console visits the web console in a real browser, in front of a real API server.
//
// TestFirstVisit opens it in front of an API server alone. TestShowcase opens every page in front of a whole cluster with what "make run"
// shows, in both themes and languages, on a phone and by keyboard; it creates, changes and deletes objects of every kind by clicks, as an
// administrator and as a user of one namespace, and asks the API server what came of it; and it takes the network, the API server and the
// session away. TestRealNode reads logs of containers and types into one. TestPictures compares a picture of every page with the last accepted one.
//
// "make screenshots" keeps pictures of the showcase, and "make accept-pictures" accepts those of TestPictures. A picture is compared only where
// the same fonts and the same browser draw it, and is the same if at most one in 1000 of its blocks of 8 by 8 pixels has another grey.
//
// "make visits" makes the visits of TestShowcase alone. While you work on one, WINDLASS_VISITS, a regular expression, leaves the others out.
//
// The browser is Debian's chromium, driven by playwright-core from web/node_modules. Where one of them or the built console is missing,
// the tests are skipped and say what is missing.
package console
