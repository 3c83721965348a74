// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// beginInput is the input of a login at the provider.
type beginInput struct {
	visit

	Return string `query:"return" maxLength:"1024" doc:"Path of this server to go to after the login. The default is /"`
}

type methodsOutput struct{ Body view.LoginMethods }

// registerProvider registers the routes by which people log in at an OpenID provider. A person sees their answers, so problems are text.
func (a *API) registerProvider() {
	tags := []string{tagSession}
	handle(a, huma.Operation{
		OperationID: "login-methods", Method: http.MethodGet, Path: sessionPath + "/methods", Summary: "How a browser can log in", Tags: tags,
		Security: anybody(), Responses: answers(map[int]*huma.Response{http.StatusOK: {Description: "The methods", Headers: carries()}}),
	}, func(context.Context, *struct{}) (*methodsOutput, error) {
		return &methodsOutput{view.LoginMethods{Methods: a.Identity.LoginMethods()}}, nil
	})
	handle(a, huma.Operation{
		OperationID: "login-begin", Method: http.MethodGet, Path: sessionPath + "/oidc", Summary: "Log in at the OpenID provider", Tags: tags,
		Description: "Sends the browser to the provider, with a cookie that it has to come back with. Open it as a page.",
		Security:    anybody(), Responses: shown(map[int]*huma.Response{http.StatusFound: {
			Description: "To the provider", Headers: map[string]*huma.Param{headerRequest: {Ref: "#/components/headers/" + headerRequest}},
		}}),
	}, func(_ context.Context, in *beginInput) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(huma.Context) { a.beginLogin(in) }}, nil
	})
	handle(a, huma.Operation{
		OperationID: "login-finish", Method: http.MethodGet, Path: sessionPath + "/oidc/callback", Summary: "Where the OpenID provider sends browsers to", Tags: tags,
		Description: "Begins a session like POST /v1/session, with the ID token of the provider, and goes on to the path that the login began with.",
		Security:    anybody(), SkipValidateParams: true, // providers send parameters of their own
		Responses: shown(map[int]*huma.Response{http.StatusOK: {
			Description: "The session has begun. The header Refresh has the path to go to", Headers: carries(),
			Content: map[string]*huma.MediaType{mediaText: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}}),
	}, func(_ context.Context, in *struct{ visit }) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(huma.Context) { a.finishLogin(in.w, in.r) }}, nil
	})
}

// shown describes the answers of a route that a person opens: its good ones, and text for what is wrong.
func shown(good map[int]*huma.Response) map[string]*huma.Response {
	out := answers(good)
	text := map[string]*huma.MediaType{
		mediaText: {Schema: &huma.Schema{Type: huma.TypeString}}, mediaProblem: {Schema: ref(schemaProblem)},
	}
	out["default"] = &huma.Response{Description: "Why the login has failed, as text", Headers: carries(), Content: text}
	for _, status := range []string{"400", "403", "404", "502", "503"} {
		out[status] = out["default"]
	}
	return out
}

// beginLogin sends the browser to the provider.
func (a *API) beginLogin(in *beginInput) {
	location, err := a.Identity.BeginLogin(in.w, in.r, in.Return)
	if err != nil {
		a.showRefusal(in.w, in.r, err)
		return
	}
	// http.Redirect would write a body in HTML.
	in.w.Header().Set("Location", location)
	in.w.WriteHeader(http.StatusFound)
}

// finishLogin begins the session. The browser goes on by itself and is not redirected: after a redirect that began at the provider, it would
// not send the strict cookie with the next page.
func (a *API) finishLogin(w http.ResponseWriter, r *http.Request) {
	session, returnTo, err := a.Identity.FinishLogin(w, r)
	if err != nil {
		a.showRefusal(w, r, err)
		return
	}
	a.noteLogin(r.Context(), r, session)
	w.Header().Set("Refresh", "0; url="+returnTo)
	writeText(w, http.StatusOK, "You are logged in as "+session.User+".")
}

// showRefusal tells a person why they are not logged in. The cause is for the log.
func (a *API) showRefusal(w http.ResponseWriter, r *http.Request, err error) {
	status, text := http.StatusBadGateway, "The OpenID provider cannot be reached. The log has the reason."
	if _, told := errors.AsType[*view.Problem](err); told || errors.Is(err, access.ErrUndecided) {
		problem := asProblem(err)
		status, text = problem.Status, problem.Detail
	}
	if refusal, ok := access.RefusalOf(err); ok {
		status, text = refusal.Status, refusal.Text
	}
	a.Log.Info("Login failed", "address", r.RemoteAddr, "status", status, "cause", err.Error(), "request", instance(r.Context()))
	writeText(w, status, text)
}

// writeText answers with a line that no browser takes for a page.
func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", mediaText+"; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}
