// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// ErrUndecided is the error of a token that the API server could not check, as while the keys of its OpenID provider are not there yet. It answers,
// and says neither yes nor no.
var ErrUndecided = errors.New("the API server cannot check the token")

// undecided is the error of a review of rights that failed in the API server, with its cause for the log.
func undecided(cause string) error {
	out := view.NewProblem(http.StatusServiceUnavailable, view.CodeOf(http.StatusServiceUnavailable),
		"The API server cannot say at present what you may do. Try again in a moment.")
	out.RetryAfter = "1"
	return errors.Join(out.With(view.ParameterSeconds, out.RetryAfter), errors.New("cannot review a right: "+cause))
}

// refusalText is all that the API server says of a token that it does not know. What it says of a check that has failed begins with it, too: its own
// token for itself is what it compares with first.
const refusalText = "invalid bearer token"

// finalWords returns what the API server says of a token that it will not accept again either. They are in the words of its checks, which have no codes.
func finalWords() []string {
	return []string{
		// ServiceAccounts
		"token has expired", "token has been invalidated", "token is not valid yet", "does not match claim", "does not match service account", "does not match server's copy",
		"is invalid for the target audiences", "invalid signature, no keys found", "error in cryptographic primitive", "token claims could not be validated",
		// OpenID providers
		"oidc: token is expired", "oidc: expected audience", "oidc: id token issued by a different provider", "failed to verify id token signature", "oidc: required claim",
		"oidc: email not verified", "validation expression '", "oidc: malformed jwt",
	}
}

// accountGone is what it says of a ServiceAccount that is not there.
var accountGone = regexp.MustCompile(`serviceaccounts "[^"]*" not found|service ?account \S+ has been deleted`)

// isInvalidToken tells a token that the API server does not accept from a review that failed. In doubt, the review has failed: a refused token ends its session.
func isInvalidToken(err error) bool {
	if err == nil || err.Error() == refusalText {
		return true
	}
	text := strings.ToLower(err.Error())
	return accountGone.MatchString(text) || slices.ContainsFunc(finalWords(), func(words string) bool { return strings.Contains(text, words) })
}

// unreviewed returns the error of a review that failed.
func unreviewed(err error) error {
	if strings.Contains(err.Error(), refusalText) { // which only the API server says
		return fmt.Errorf("%w: %w", ErrUndecided, err)
	}
	return fmt.Errorf("cannot review a token: %w", err)
}
