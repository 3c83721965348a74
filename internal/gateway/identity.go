// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/user"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// maxToken bounds a bearer token, in bytes: larger ones are not even asked about.
const maxToken = 8192

// reviewTimeout bounds one TokenReview.
const reviewTimeout = 10 * time.Second

// caller is who sent a request.
type caller struct {
	user user.Info
	// token is what the API server sees. It is empty for a session, which acts as the kubeconfig.
	token   string
	session bool
}

// key tells callers apart. Two accounts of the same name, one after the other, differ in their UID.
func (c *caller) key() string {
	if c.session {
		return "session"
	}
	return c.user.GetName() + "\x00" + c.user.GetUID()
}

type callerKey struct{}

// callerOf returns who sent the request of the context.
func callerOf(ctx context.Context) (*caller, error) {
	c, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		return nil, unauthorized("The request carries no credentials.")
	}
	return c, nil
}

// identity finds out who calls.
type identity struct {
	tokens   authenticator.Request
	session  *session
	failures *limiter
	// good are tokens that were taken lately, by their hash. A flood of invented ones from the same address, which may be that
	// of a proxy, does not touch them.
	good *utilcache.LRUExpireCache
}

// goodMemory is for how long, and goodTokens for how many tokens it is remembered that they were taken.
const (
	goodMemory = 10 * time.Minute
	goodTokens = 4096
)

// reviewBackoff is how a review is repeated that got no answer.
func reviewBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 3}
}

func newIdentity(client authenticationclient.AuthenticationV1Interface, s *session, ttl time.Duration) (*identity, error) {
	tokens, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		TokenAccessReviewClient: client, TokenAccessReviewTimeout: reviewTimeout,
		WebhookRetryBackoff: reviewBackoff(), CacheTTL: ttl,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("cannot make the authenticator: %w", err)
	}
	return &identity{tokens: tokens, session: s, failures: newLimiter(5, 20), good: utilcache.NewLRUExpireCache(goodTokens)}, nil
}

// of returns who sent the request.
func (i *identity) of(r *http.Request) (*caller, error) {
	token, bearer := bearerToken(r)
	switch {
	case bearer && i.session.carries(r, token):
		return i.session.caller, nil
	case !bearer && i.session.carriesCookie(r):
		return i.session.caller, nil
	case !bearer:
		return nil, unauthorized("The request carries no bearer token.")
	case token == "" || len(token) > maxToken:
		return nil, unauthorized("The bearer token is none that the cluster knows.")
	}
	// A flood of invented tokens becomes no flood of reviews.
	hash := sha256.Sum256([]byte(token))
	if _, known := i.good.Get(hash); !known {
		if pause := i.failures.after(remoteHost(r)); pause > 0 {
			return nil, tooMany(pause)
		}
	}
	response, ok, err := i.tokens.AuthenticateRequest(tokenRequest(r, token))
	switch {
	case ok:
		i.good.Add(hash, true, goodMemory)
		return &caller{user: response.User, token: token}, nil
	case isInvalidToken(err):
		i.failures.take(remoteHost(r))
		i.good.Remove(hash)
		return nil, unauthorized("The bearer token is none that the cluster knows.")
	default:
		return nil, fmt.Errorf("cannot review a token: %w", err)
	}
}

// valid reports whether the caller is still who he was. With an error nobody knows.
func (i *identity) valid(ctx context.Context, c *caller) (bool, error) {
	if c.session {
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

// isInvalidToken tells a token that the API server does not know from a review that failed. The first one is no error, or, for
// a token that was looked at in a header, the one below.
func isInvalidToken(err error) bool {
	return err == nil || strings.Contains(err.Error(), "invalid bearer token")
}

// tokenRequest is what the authenticator looks at: the token and nothing else of the request. It deletes the header it
// has read, which is why it gets one of its own.
func tokenRequest(r *http.Request, token string) *http.Request {
	out := (&http.Request{Method: r.Method, URL: r.URL, Header: http.Header{}}).WithContext(r.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	return out
}

// bearerToken returns the token of the request; ok is false where there is no such header.
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

// unauthorized is the problem of a caller whom nobody knows.
func unauthorized(detail string) *view.Problem {
	return view.NewProblem(http.StatusUnauthorized, "Unauthorized", detail)
}

// authenticate puts the caller into the context of the request.
func (g *Gateway) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := g.identity.of(r)
		if err != nil {
			g.writeError(w, r, err)
			return
		}
		if pause := g.limits.take(who.key()); pause > 0 {
			g.writeError(w, r, tooMany(pause))
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	})
}

// asProblem returns the problem that an error is. What went wrong between the gateway and the API server is for the log: it may
// name addresses.
func asProblem(err error) *view.Problem {
	if problem, ok := errors.AsType[*view.Problem](err); ok {
		return problem
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return view.NewProblem(http.StatusGatewayTimeout, "Timeout", "The API server did not answer in time.")
	}
	return view.NewProblem(http.StatusBadGateway, "BadGateway", "The API server could not be asked.")
}
