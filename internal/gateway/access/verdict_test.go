// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"testing"
)

// TestRefusalsOfTokens has what API servers say. Only a refusal ends a session.
func TestRefusalsOfTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"invalid bearer token": true,
		"[invalid bearer token, service account token has expired]":                                                        true,
		"[invalid bearer token, Token has been invalidated]":                                                               true,
		`[invalid bearer token, serviceaccounts "user" not found]`:                                                         true,
		"[invalid bearer token, service account shop/user has been deleted]":                                               true,
		"[invalid bearer token, service account UID (1) does not match claim (2)]":                                         true,
		"[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]":                                        true,
		"[invalid bearer token, oidc: verify token: oidc: token is expired (Token Expiry: 2026-01-01 00:00:00 +0000 UTC)]": true,
		"[invalid bearer token, oidc: verify token: failed to verify signature: failed to verify id token signature]":      true,
		"[invalid bearer token, oidc: authenticator not initialized]":                                                      false,
		"[invalid bearer token, oidc: verify token: failed to verify signature: fetching keys oidc: get keys failed]":      false,
		`[invalid bearer token, Post "https://reviews.example": x509: certificate has expired or is not yet valid]`:        false,
		`[invalid bearer token, Get "https://[::1]:6443/api": dial tcp [::1]:6443: connect: connection refused]`:           false,
		"[invalid bearer token, etcdserver: leader changed]":                                                               false,
		"context deadline exceeded": false,
	} {
		err := errors.New(text)
		if got := isInvalidToken(err); got != want {
			t.Errorf("%s: a refusal is %t, want %t", text, got, want)
		}
		if decided := !errors.Is(unreviewed(err), ErrUndecided); !want && decided && text != "context deadline exceeded" {
			t.Errorf("%s: it counts as no answer of the API server", text)
		}
	}
}
