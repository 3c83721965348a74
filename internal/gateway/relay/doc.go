// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package relay passes messages on between two WebSockets: a caller's, and one of the API server that was opened for them. It does
// not look into messages. It bounds them, pings the caller, and tells them why a session ends.
//
// A side that does not take messages holds up the other one: TCP tells it. The caller has a time limit for each message. The API server has
// none, because a program may wait for hours before it reads its input.
package relay
