// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package login logs people in with a browser at a real OpenID provider, through a gateway, to a real API server that takes the tokens of that
// provider. It has nothing but tests.
package login
