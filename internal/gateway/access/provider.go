// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"net/http"

	"github.com/windlass-operator/windlass/internal/gateway/login"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// LoginMethods returns the ways in which a browser can log in.
func (i *Identity) LoginMethods() []string {
	out := []string{string(login.ByToken)}
	if i.provider != nil {
		out = append(out, string(login.ByProvider))
	}
	return out
}

// BeginLogin prepares a login at the provider and returns where the browser is sent. Every refusal is a *login.Refusal.
func (i *Identity) BeginLogin(w http.ResponseWriter, r *http.Request, returnTo string) (location string, err error) {
	if i.provider == nil {
		return "", noProvider()
	}
	path, local := login.LocalPath(returnTo)
	if !local {
		return "", &login.Refusal{Status: http.StatusBadRequest, Text: "The parameter return must be a path of this server, such as /nodes."}
	}
	leave, err := i.unknown.enter(r.Context(), r.RemoteAddr, remoteHost(r))
	if err != nil {
		return "", err
	}
	defer leave()
	location, cookie, err := i.provider.Begin(r.Context(), path)
	if err != nil {
		return "", err
	}
	i.cookies.SetPending(w, r, cookie)
	return location, nil
}

// FinishLogin gives the browser that comes back from the provider a cookie, like that of a login with its ID token, and returns the path that its
// person wanted to go to. Every refusal is a *login.Refusal.
func (i *Identity) FinishLogin(w http.ResponseWriter, r *http.Request) (session *view.Login, returnTo string, err error) {
	if i.provider == nil {
		return nil, "", noProvider()
	}
	pending := i.cookies.Pending(r)
	i.cookies.SetPending(w, r, "") // whatever comes of it, this login cannot be finished again
	credential, returnTo, err := i.exchange(r, pending)
	if err != nil {
		return nil, "", err
	}
	caller, err := i.review(r, credential.Token, 0)
	if problem, refused := errors.AsType[*view.Problem](err); refused && problem.Status == http.StatusUnauthorized {
		return nil, "", &login.Refusal{
			Status: http.StatusForbidden,
			Text: "The API server does not accept the ID token of the OpenID provider. Its administrator has to configure the API server with the " +
				"same issuer and client ID (--authentication-config).",
		}
	}
	if err != nil {
		return nil, "", err
	}
	return i.open(w, r, caller, login.ByProvider, credential), returnTo, nil
}

// exchange asks the provider for the credential, as one of a bounded number of unknown callers.
func (i *Identity) exchange(r *http.Request, pending string) (login.Credential, string, error) {
	leave, err := i.unknown.enter(r.Context(), r.RemoteAddr, remoteHost(r))
	if err != nil {
		return login.Credential{}, "", err
	}
	defer leave()
	return i.provider.Finish(r.Context(), pending, r.URL.Query())
}

// RefusalOf returns the refusal of a login that the error is.
func RefusalOf(err error) (*login.Refusal, bool) { return errors.AsType[*login.Refusal](err) }

func noProvider() error {
	return &login.Refusal{
		Status: http.StatusNotFound, Text: "There is no OpenID provider to log in at: this server was started without --oidc-issuer-url.",
	}
}
