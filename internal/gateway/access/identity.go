// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/user"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/windlass-operator/windlass/internal/gateway/login"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// MaxToken bounds a bearer token, in bytes: longer ones are refused without a review.
const MaxToken = 8192

// HeaderUnattended is in the requests that a page sends by itself, while nobody uses it. They do not keep a session from being idle.
const HeaderUnattended = "Windlass-Unattended"

// reviewTimeout bounds one TokenReview.
const reviewTimeout = 10 * time.Second

// Identity finds out who sent a request.
type Identity struct {
	tokens  authenticator.Request
	session *Session
	// logins are the sessions of browsers, and cookies the names of theirs.
	logins  *login.Table
	cookies login.Cookies
	// provider is where people log in; nil for nowhere.
	provider *login.Provider
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

// Browsers say how browsers log in.
type Browsers struct {
	// Lifetime is when a session ends, and Idle when it ends without a request.
	Lifetime, Idle time.Duration
	// Port of the server.
	Port string
	// Provider is where people log in. Default: nil, for nowhere.
	Provider *login.Provider
	// Now is the clock.
	Now func() time.Time
}

// NewIdentity returns an Identity that believes a TokenReview for the time to live. The session may be nil.
func NewIdentity(
	client authenticationclient.AuthenticationV1Interface, s *Session, of Browsers, ttl time.Duration,
) (*Identity, error) {
	tokens, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		TokenAccessReviewClient: client, TokenAccessReviewTimeout: reviewTimeout,
		WebhookRetryBackoff: reviewBackoff(), CacheTTL: ttl,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("cannot create the authenticator: %w", err)
	}
	return &Identity{
		tokens: tokens, session: s, logins: login.NewTable(of.Lifetime, of.Idle, of.Provider, of.Now),
		cookies: login.Cookies{Port: of.Port}, provider: of.Provider, unknown: newReviews(),
		accepted: utilcache.NewLRUExpireCache(maxAccepted),
	}, nil
}

// Of returns who sent the request. Every refusal is a *view.Problem. A cookie does not count beside an Authorization header, which
// only a program of the caller's own can send. No page of another origin opens a WebSocket, whatever it sends.
func (i *Identity) Of(r *http.Request) (*Caller, error) { return i.of(r, 0) }

// OfStream returns who sent the request for a stream. If nobody says within patience whether a token is still accepted, it is the one who had
// the token last: a stream asks again with Refresh before it delivers anything. A browser opens streams again by itself, so they do not count as use of a session.
func (i *Identity) OfStream(r *http.Request, patience time.Duration) (*Caller, error) {
	return i.of(r, patience)
}

func (i *Identity) of(r *http.Request, patience time.Duration) (*Caller, error) {
	if wsstream.IsWebSocketRequest(r) && !fromOwnPage(r) {
		return nil, foreignPage()
	}
	token, bearer := bearerToken(r)
	fromSocket, inSocket, err := socketToken(r)
	switch {
	case err != nil || inSocket && bearer:
		return nil, unauthorized("The WebSocket must have one token, encoded in a subprotocol beside another subprotocol, or in a header.")
	case inSocket:
		token, bearer = fromSocket, true
	}
	switch {
	case bearer && i.session.carries(r, token):
		return i.session.caller(""), nil
	case bearer:
		return i.review(r, token, patience)
	default:
		return i.ofCookie(r, patience)
	}
}

// ofCookie returns whose session the cookie of the request is.
func (i *Identity) ofCookie(r *http.Request, patience time.Duration) (*Caller, error) {
	local, cookie := i.session.cookieOf(r), i.cookies.Session(r)
	if local == "" && cookie == "" {
		return nil, unauthorized("The request has no bearer token.")
	}
	if !fromOwnPage(r) {
		return nil, foreignPage()
	}
	use := i.logins.Use
	if patience > 0 || r.Header.Get(HeaderUnattended) != "" {
		use = i.logins.Look
	}
	s, ok, err := use(r.Context(), cookie)
	switch {
	case err != nil:
		return nil, notRenewed(err)
	case ok:
	case local != "":
		return i.session.caller(local), nil
	default:
		return nil, sessionEnded()
	}
	caller, err := i.review(r, s.Token, patience)
	if problem, refused := errors.AsType[*view.Problem](err); refused && problem.Status == http.StatusUnauthorized {
		i.logins.End(cookie) // the token has expired or was revoked, and will not come back
		return nil, sessionEnded()
	}
	if err != nil {
		return nil, err
	}
	caller.cookie = cookie
	return caller, nil
}

// notRenewed is an error that says who did not answer, with its cause for the log.
func notRenewed(cause error) error {
	return errors.Join(view.NewProblem(http.StatusServiceUnavailable, "ProviderUnavailable",
		"The OpenID provider does not answer, so the session cannot be renewed. Try again in a moment."), cause)
}

func sessionEnded() *view.Problem {
	return view.NewProblem(http.StatusUnauthorized, "SessionEnded", "The session has ended. Log in again.")
}

// review returns whose token that is. With patience, and for longer than that without an answer, it is whose the token was.
func (i *Identity) review(r *http.Request, token string, patience time.Duration) (*Caller, error) {
	if token == "" || len(token) > MaxToken || !httpguts.ValidHeaderFieldValue(token) { // it is sent on in a header
		return nil, notAccepted()
	}
	// A flood of invented tokens does not become a flood of reviews.
	hash := sha256.Sum256([]byte(token))
	last, known := i.accepted.Get(hash)
	if !known {
		leave, err := i.unknown.enter(r.Context(), r.RemoteAddr, remoteHost(r))
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	request := tokenRequest(r, token)
	whose, remembered := last.(user.Info)
	remembered = remembered && patience > 0
	if remembered {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		request = request.WithContext(ctx)
	}
	response, ok, err := i.tokens.AuthenticateRequest(request)
	switch {
	case ok:
		i.accepted.Add(hash, response.User, acceptedTTL)
		return &Caller{User: response.User, token: token}, nil
	case isInvalidToken(err):
		i.accepted.Remove(hash)
		return nil, notAccepted()
	case remembered && r.Context().Err() == nil:
		return &Caller{User: whose, token: token}, nil
	default:
		return nil, unreviewed(err)
	}
}

func notAccepted() *view.Problem {
	return unauthorized("The API server did not accept the bearer token.")
}

// Refresh returns the caller as the API server knows them now, by the credential that they have now: the token of a session may have been
// renewed, and the groups of a user change. It is false for a credential that is no longer accepted. An error means that nobody knows.
func (i *Identity) Refresh(ctx context.Context, c *Caller) (*Caller, bool, error) {
	token := c.token
	switch {
	case c.Session:
		return c, c.cookie == "" || i.session.knows(c.cookie), nil
	case c.cookie != "":
		s, ok, err := i.logins.Look(ctx, c.cookie)
		if !ok {
			return nil, false, err
		}
		token = s.Token
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	if err != nil {
		return nil, false, err
	}
	hash := sha256.Sum256([]byte(token))
	response, ok, err := i.tokens.AuthenticateRequest(tokenRequest(request, token))
	switch {
	case ok:
		i.accepted.Add(hash, response.User, acceptedTTL)
		return &Caller{User: response.User, token: token, cookie: c.cookie}, true, nil
	case isInvalidToken(err):
		i.accepted.Remove(hash)
		return nil, false, nil
	default:
		return nil, false, err
	}
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
