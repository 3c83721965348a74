// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
)

// MaxToken bounds a bearer token, in bytes: longer ones are refused without a review.
const MaxToken = 8192

// reviewTimeout bounds one TokenReview.
const reviewTimeout = 10 * time.Second

// Identity finds out who sent a request.
type Identity struct {
	tokens  authenticator.Request
	session *Session
	// unknown bounds the reviews of tokens that are not among the accepted ones.
	unknown *reviews
	// accepted are recently accepted tokens, by their hash: they do not wait behind unknown ones.
	accepted *utilcache.LRUExpireCache
}

// Accepted tokens are cached for acceptedTTL, at most maxAccepted of them.
const (
	acceptedTTL = 10 * time.Minute
	maxAccepted = 4096
)

// reviewBackoff is how often a review without an answer is retried.
func reviewBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 3}
}

// NewIdentity returns an Identity that believes a TokenReview for the time to live. The session may be nil.
func NewIdentity(client authenticationclient.AuthenticationV1Interface, s *Session, ttl time.Duration) (*Identity, error) {
	tokens, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		TokenAccessReviewClient: client, TokenAccessReviewTimeout: reviewTimeout,
		WebhookRetryBackoff: reviewBackoff(), CacheTTL: ttl,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("cannot create the authenticator: %w", err)
	}
	return &Identity{tokens: tokens, session: s, unknown: newReviews(), accepted: utilcache.NewLRUExpireCache(maxAccepted)}, nil
}

// Of returns who sent the request. Every refusal is a *view.Problem.
func (i *Identity) Of(r *http.Request) (*Caller, error) {
	token, bearer := bearerToken(r)
	switch {
	case bearer && i.session.carries(r, token):
		return i.session.caller, nil
	case !bearer && i.session.carriesCookie(r):
		return i.session.caller, nil
	case !bearer:
		return nil, unauthorized("The request has no bearer token.")
	case token == "" || len(token) > MaxToken:
		return nil, unauthorized("The API server did not accept the bearer token.")
	}
	// A flood of invented tokens does not become a flood of reviews.
	hash := sha256.Sum256([]byte(token))
	if _, known := i.accepted.Get(hash); !known {
		leave, err := i.unknown.enter(r.Context(), r.RemoteAddr, remoteHost(r))
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	response, ok, err := i.tokens.AuthenticateRequest(tokenRequest(r, token))
	switch {
	case ok:
		i.accepted.Add(hash, true, acceptedTTL)
		return &Caller{User: response.User, token: token}, nil
	case isInvalidToken(err):
		i.accepted.Remove(hash)
		return nil, unauthorized("The API server did not accept the bearer token.")
	default:
		return nil, fmt.Errorf("cannot review a token: %w", err)
	}
}

// Valid reports whether the caller's credentials are still accepted. An error means that nobody knows.
func (i *Identity) Valid(ctx context.Context, c *Caller) (bool, error) {
	if c.Session {
		return true, nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	if err != nil {
		return false, err
	}
	_, ok, err := i.tokens.AuthenticateRequest(tokenRequest(request, c.token))
	if ok || isInvalidToken(err) {
		return ok, nil
	}
	return false, err
}

// isInvalidToken tells a token that the API server does not accept from a review that failed. The authenticator of headers
// has no typed error for the first.
func isInvalidToken(err error) bool {
	return err == nil || strings.Contains(err.Error(), "invalid bearer token")
}

// tokenRequest returns what the authenticator reads: the token and nothing else of the request. It is a copy, because the
// authenticator deletes the header.
func tokenRequest(r *http.Request, token string) *http.Request {
	out := (&http.Request{Method: r.Method, URL: r.URL, Header: http.Header{}}).WithContext(r.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	return out
}

// bearerToken returns the bearer token of the request; false without an Authorization header.
func bearerToken(r *http.Request) (token string, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", false
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return "", true
	}
	return strings.TrimSpace(token), true
}
