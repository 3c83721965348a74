// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// providerTimeout bounds one request to a provider.
	providerTimeout = 10 * time.Second
	// beginTTL is how long a person may take to log in at a provider.
	beginTTL = 10 * time.Minute
	// keysAway is in the error of a token whose signature could not be verified, because the provider does not give its keys.
	keysAway = "fetching keys"
)

// ProviderOptions say at which OpenID provider people log in.
type ProviderOptions struct {
	// IssuerURL and ClientID are those that the API server is configured with, too.
	IssuerURL, ClientID string
	// ClientSecretFile has the secret of the client, and is read for each login. Default: empty, for a client without a secret.
	ClientSecretFile string
	// RedirectURL is the address of the callback as browsers reach it. The provider has to know it.
	RedirectURL string
	// CAFile has the certificates, in PEM, that the provider's is verified with. Default: empty, for those of the system.
	CAFile string
	// Scopes that are asked for beside openid.
	Scopes []string
	// Now is the clock.
	Now func() time.Time
}

// Provider logs people in by the authorization code flow with PKCE.
type Provider struct {
	options ProviderOptions
	client  *http.Client
	// key seals what a browser keeps between the beginning of a login and its end.
	key string

	mu    sync.Mutex
	found *oidc.Provider
}

// NewProvider returns a provider, which is asked for nothing before the first login.
func NewProvider(options ProviderOptions) (*Provider, error) {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 4,
	}
	if options.CAFile != "" {
		raw, err := os.ReadFile(options.CAFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read the CA of the OpenID provider: %w", err)
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("cannot read the CA of the OpenID provider: %s has no certificate in PEM", options.CAFile)
		}
	}
	return &Provider{options: options, client: &http.Client{Transport: transport, Timeout: providerTimeout}, key: rand.Text() + rand.Text()}, nil
}

// Credential is what a provider has issued for a person.
type Credential struct {
	// Token is the ID token, which the API server is sent.
	Token string `json:"token"`
	// Refresh gets a new one. Default: empty, where the provider gives none.
	Refresh string `json:"refresh,omitempty"`
	// Subject is who it was issued for. Default: empty, for a token that nobody has issued here.
	Subject string `json:"subject,omitempty"`
}

// pending is a login that has begun, as its browser keeps it.
type pending struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	ReturnTo string    `json:"returnTo"`
	Expires  time.Time `json:"expires"`
}

// Begin returns where the browser is sent, and the cookie that it has to come back with.
func (p *Provider) Begin(ctx context.Context, returnTo string) (location, cookie string, err error) {
	config, _, err := p.config(ctx)
	if err != nil {
		return "", "", err
	}
	begun := pending{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), ReturnTo: returnTo, Expires: p.options.Now().Add(beginTTL),
	}
	return config.AuthCodeURL(begun.State, oidc.Nonce(begun.Nonce), oauth2.S256ChallengeOption(begun.Verifier)), p.keep(begun), nil
}

// Finish exchanges what the browser has come back with for a credential, and returns where its person wanted to go.
func (p *Provider) Finish(ctx context.Context, cookie string, query url.Values) (c Credential, returnTo string, err error) {
	begun, ok := p.kept(cookie)
	if !ok || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(begun.State)) == 0 {
		return c, "", refuse(http.StatusBadRequest, "This browser did not begin this login, or did so more than ten minutes ago. Log in again.", nil)
	}
	if code := query.Get("error"); code != "" {
		return c, "", refuse(http.StatusForbidden, "The OpenID provider refused the login: "+quoted(code, query.Get("error_description")), nil)
	}
	if issuer := query.Get("iss"); issuer != "" && issuer != p.options.IssuerURL {
		return c, "", refuse(http.StatusBadRequest, "The answer comes from another OpenID provider than the one that was asked.", nil)
	}
	config, found, err := p.config(ctx)
	if err != nil {
		return c, "", err
	}
	issued, err := config.Exchange(p.dialing(ctx), query.Get("code"), oauth2.VerifierOption(begun.Verifier))
	if err != nil {
		return c, "", refusedBy(err)
	}
	c, token, err := p.verified(ctx, found, issued)
	if err == nil && subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(begun.Nonce)) == 0 {
		err = refuse(http.StatusForbidden, "The ID token was issued for another login. Log in again.", nil)
	}
	return c, begun.ReturnTo, err
}

// Renew returns a new credential of the same person. A *Refusal means that the provider issues none.
func (p *Provider) Renew(ctx context.Context, old Credential) (Credential, error) {
	config, found, err := p.config(ctx)
	if err != nil {
		return Credential{}, err
	}
	issued, err := config.TokenSource(p.dialing(ctx), &oauth2.Token{RefreshToken: old.Refresh}).Token()
	if err != nil {
		return Credential{}, refusedBy(err)
	}
	c, _, err := p.verified(ctx, found, issued)
	_, refused := errors.AsType[*Refusal](err)
	switch {
	case err == nil && c.Subject != old.Subject:
		err = refuse(http.StatusForbidden, "The OpenID provider renewed the login of somebody else.", nil)
	case err != nil && !refused: // many providers no longer accept the old refresh token
		c = Credential{Token: old.Token, Refresh: cmp.Or(issued.RefreshToken, old.Refresh), Subject: old.Subject}
	}
	return c, err
}

// verified returns the credential with the ID token of an answer of the token endpoint.
func (p *Provider) verified(ctx context.Context, found *oidc.Provider, issued *oauth2.Token) (Credential, *oidc.IDToken, error) {
	raw, _ := issued.Extra("id_token").(string)
	if raw == "" {
		return Credential{}, nil, refuse(http.StatusBadGateway, "The OpenID provider issued no ID token.", nil)
	}
	token, err := found.Verifier(&oidc.Config{ClientID: p.options.ClientID, Now: p.options.Now}).Verify(p.dialing(ctx), raw)
	switch {
	case err == nil:
	case strings.Contains(err.Error(), keysAway):
		return Credential{}, nil, fmt.Errorf("cannot get the keys of the OpenID provider: %w", err)
	default:
		return Credential{}, nil, refuse(http.StatusForbidden, "The ID token of the OpenID provider is not valid. The log has the reason.", err)
	}
	return Credential{Token: raw, Refresh: issued.RefreshToken, Subject: token.Subject}, token, nil
}

// config returns the client and its provider, which is discovered by the first login that reaches it.
func (p *Provider) config(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	secret := ""
	if p.options.ClientSecretFile != "" {
		raw, err := os.ReadFile(p.options.ClientSecretFile)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read the client secret: %w", err)
		}
		secret = strings.TrimSpace(string(raw))
	}
	found, err := p.discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &oauth2.Config{
		ClientID: p.options.ClientID, ClientSecret: secret, Endpoint: found.Endpoint(), RedirectURL: p.options.RedirectURL,
		Scopes: append([]string{oidc.ScopeOpenID}, p.options.Scopes...),
	}, found, nil
}

func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	known := p.found
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	// Keys are fetched later, with the client and not with the context of this request.
	found, err := oidc.NewProvider(p.dialing(ctx), p.options.IssuerURL)
	if err != nil {
		return nil, fmt.Errorf("cannot discover the OpenID provider %s: %w", p.options.IssuerURL, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = found
	return found, nil
}

// dialing returns a context in which the libraries use the client of the provider.
func (p *Provider) dialing(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.client)
}

// refusedBy returns the refusal of the token endpoint, in its own words, or the error of one that could not be reached or is in trouble.
func refusedBy(err error) error {
	answer, answered := errors.AsType[*oauth2.RetrieveError](err)
	if !answered || answer.ErrorCode == "" || inTrouble(answer) {
		return fmt.Errorf("cannot get a token of the OpenID provider: %w", err)
	}
	return refuse(http.StatusForbidden, "The OpenID provider refused the login: "+quoted(answer.ErrorCode, answer.ErrorDescription), nil)
}

// inTrouble reports whether an answer says nothing of the login: the provider has failed, or asks for patience.
func inTrouble(answer *oauth2.RetrieveError) bool {
	if slices.Contains([]string{"server_error", "temporarily_unavailable"}, answer.ErrorCode) {
		return true
	}
	status := answer.Response.StatusCode
	return status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}
