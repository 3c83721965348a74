// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/login"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// LoginCookie is the name of the cookie of a session over TLS.
const LoginCookie = login.SecureCookie

// Methods of callers that have no session of a browser.
const (
	methodKubeconfig = "kubeconfig"
	methodBearer     = "bearer"
)

// LogIn reviews a token like any other, and gives the browser a cookie that stands for it. The session that the browser had before
// ends: a cookie from before a login never has the rights of after it.
func (i *Identity) LogIn(w http.ResponseWriter, r *http.Request, token string) (*view.Login, error) {
	token = strings.TrimSpace(token) // a file has the end of its line
	caller, err := i.review(r, token, 0)
	if err != nil {
		return nil, err
	}
	return i.open(w, r, caller, login.ByToken, login.Credential{Token: token}), nil
}

// open begins the session of a caller who was just found out.
func (i *Identity) open(w http.ResponseWriter, r *http.Request, c *Caller, by login.Method, with login.Credential) *view.Login {
	i.logins.End(i.cookies.Session(r))
	cookie, s := i.logins.Open(login.Opening{User: c.User.GetName(), Method: by, Credential: with})
	i.cookies.SetSession(w, r, cookie)
	return describe(c, s)
}

// Touch says that a person who has logged in with a browser does something without a request, such as typing. Their session is not idle then.
func (i *Identity) Touch(c *Caller) {
	if !c.Session && c.cookie != "" {
		i.logins.Touch(c.cookie)
	}
}

// LogOut ends the sessions that the cookies of the request stand for, takes the cookies from the browser, and returns whose
// sessions they were.
func (i *Identity) LogOut(w http.ResponseWriter, r *http.Request) (users []string) {
	if cookie := i.cookies.Session(r); cookie != "" {
		i.cookies.SetSession(w, r, "")
		if user, ok := i.logins.End(cookie); ok {
			users = append(users, user)
		}
	}
	if cookie := i.session.cookieOf(r); cookie != "" {
		i.session.revoke(w, r, cookie)
		users = append(users, i.session.user.GetName())
	}
	return users
}

// Describe returns what the caller of the request is logged in as, and until when.
func (i *Identity) Describe(ctx context.Context, c *Caller) (*view.Login, error) {
	out := describe(c, login.Session{})
	switch {
	case c.Session:
		out.Method = methodKubeconfig
	case c.cookie == "":
		out.Method = methodBearer
	default:
		s, ok, err := i.logins.Look(ctx, c.cookie)
		if err != nil {
			return nil, notRenewed(err)
		}
		if !ok {
			return nil, sessionEnded()
		}
		out = describe(c, s)
	}
	return out, nil
}

func describe(c *Caller, s login.Session) *view.Login {
	out := &view.Login{User: c.User.GetName(), Groups: slices.Clone(c.User.GetGroups()), Method: string(s.Method)}
	if out.Groups == nil {
		out.Groups = []string{}
	}
	if !s.Expires.IsZero() {
		out.ExpiresAt, out.IdleEndsAt = new(s.Expires.UTC().Truncate(time.Second)), new(s.IdleEnd.UTC().Truncate(time.Second))
	}
	return out
}
