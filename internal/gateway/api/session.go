// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// sessionPath begins the routes by which a browser logs in. They are open to everybody.
const sessionPath = "/v1/session"

// tagSession is the tag of these routes in the description.
const tagSession = "session"

// maxLogin bounds the body of a login, in bytes.
const maxLogin = 16 << 10

// visit is the request of a caller who may be nobody yet, with what a browser is given.
type visit struct {
	w http.ResponseWriter
	r *http.Request
}

// Resolve implements huma.Resolver.
func (v *visit) Resolve(ctx huma.Context) []error {
	v.r, v.w = humago.Unwrap(ctx)
	return nil
}

// loginInput is the input of a login.
type loginInput struct {
	visit

	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"8192" writeOnly:"true" doc:"Token that the API server accepts, such as one of a ServiceAccount"`
	}
}

type loginOutput struct{ Body *view.Login }

// anybody marks operations that need no credentials.
func anybody() []map[string][]string { return []map[string][]string{{}} }

// registerSession registers the routes by which a browser logs in and out.
func (a *API) registerSession() {
	tags := []string{tagSession}
	session := func(about string) map[string]*huma.Response {
		return answers(map[int]*huma.Response{http.StatusOK: {Description: about, Headers: carries()}})
	}
	handle(a, huma.Operation{
		OperationID: "login", Method: http.MethodPost, Path: sessionPath, Summary: "Log in with a token", Tags: tags, Security: anybody(),
		Description: "Answers with a cookie that stands for the token until the session ends. No page can read it, and no other site can send it.",
		Responses:   session("The session that has begun"), MaxBodyBytes: maxLogin,
	}, a.logIn)
	handle(a, huma.Operation{
		OperationID: "session", Method: http.MethodGet, Path: sessionPath, Summary: "Who is logged in, and until when", Tags: tags,
		Responses: session("The session"),
	}, a.session)
	handle(a, huma.Operation{
		OperationID: "logout", Method: http.MethodDelete, Path: sessionPath, Summary: "Log out", Tags: tags, Security: anybody(),
		Description:   "Ends the sessions of the request's cookies. The token is forgotten, and streams of the session end at their next check.",
		DefaultStatus: http.StatusNoContent,
		Responses:     answers(map[int]*huma.Response{http.StatusNoContent: {Description: "Nobody is logged in", Headers: carries()}}),
	}, a.logOut)
}

// logIn opens a session for the token. A refusal closes the connection, as everywhere.
func (a *API) logIn(ctx context.Context, in *loginInput) (*loginOutput, error) {
	session, err := a.Identity.LogIn(in.w, in.r, in.Body.Token)
	if err != nil {
		if problem, refused := errors.AsType[*view.Problem](err); refused && problem.Status == http.StatusUnauthorized {
			in.w.Header().Set("Connection", "close")
		}
		return nil, err
	}
	a.noteLogin(ctx, in.r, session)
	session.Cluster = a.ClusterName
	return &loginOutput{session}, nil
}

// noteLogin logs who has logged in.
func (a *API) noteLogin(ctx context.Context, r *http.Request, session *view.Login) {
	a.Log.Info("Login", "user", session.User, "method", session.Method, "address", r.RemoteAddr, "request", instance(ctx))
}

// session tells a page who is logged in.
func (a *API) session(ctx context.Context, in *struct{ visit }) (*loginOutput, error) {
	who, err := a.Identity.Of(in.r)
	if err != nil {
		return nil, err
	}
	if pause := a.Limits.Take(who.Key()); pause > 0 {
		return nil, access.TooMany(pause)
	}
	session, err := a.Identity.Describe(ctx, who)
	if err != nil {
		return nil, err
	}
	session.Cluster = a.ClusterName
	return &loginOutput{session}, nil
}

// logOut ends the session of a browser. Nothing is left to end for those who have none.
func (a *API) logOut(ctx context.Context, in *struct{ visit }) (*struct{}, error) {
	for _, user := range a.Identity.LogOut(in.w, in.r) {
		a.Log.Info("Logout", "user", user, "address", in.r.RemoteAddr, "request", instance(ctx))
	}
	return nil, nil
}
