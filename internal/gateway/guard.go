// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

type requestIDKey struct{}

// instance names a request in a problem.
func instance(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return "urn:windlass:request:" + id
}

// guard is in front of everything: it names the request, sets the headers that every answer has, refuses hosts that are not ours,
// and turns a panic into an answer.
func (g *Gateway) guard(next http.Handler) http.Handler {
	local := access.IsLoopback(g.options.Listener.Addr().String())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strings.ToLower(rand.Text()[:16])
		r = r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
		header := w.Header()
		header.Set("X-Request-Id", id)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		if r.TLS != nil {
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		defer g.recovered(w, r)
		// A name that somebody else's DNS points at this machine would make his page one of ours.
		if local && !access.IsLoopback(r.Host) {
			g.writeError(w, r, view.NewProblem(http.StatusMisdirectedRequest, "Host", "This server answers for the loopback address only."))
			return
		}
		if path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/") && r.URL.Path != "/" {
			g.writeError(w, r, notFound())
			return
		}
		if r.URL.Path != watchPath {
			ctx, cancel := context.WithTimeout(r.Context(), g.options.Timeout)
			defer cancel()
			r = r.WithContext(ctx) //nolint:contextcheck // because it is the context of the request, with an end
			deadline, _ := ctx.Deadline()
			// What cannot have a deadline, such as a recorder in a test, needs none.
			_ = http.NewResponseController(w).SetWriteDeadline(deadline.Add(time.Second))
		}
		next.ServeHTTP(w, r)
	})
}

func (g *Gateway) recovered(w http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause) // which is how net/http is told to cut a connection
	}
	g.options.Log.Info("Panic in a request", "request", instance(r.Context()), "cause", cause, "stack", string(debug.Stack()))
	g.writeError(w, r, view.NewProblem(http.StatusInternalServerError, "InternalError",
		"Something went wrong here; the log has it under this request's id."))
}

// unrouted answers what no route takes: nothing there, or not with this method.
func (g *Gateway) unrouted(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		var allowed []string
		for _, method := range []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		} {
			other := *r
			other.Method = method
			if _, pattern := mux.Handler(&other); pattern != "" {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			g.writeError(w, r, notFound())
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		g.writeError(w, r, view.NewProblem(http.StatusMethodNotAllowed, "MethodNotAllowed",
			"This path takes "+strings.Join(allowed, ", ")+"."))
	})
}

// readOnly lets only those through who want to read.
func (g *Gateway) readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", "GET, HEAD")
		g.writeError(w, r, view.NewProblem(http.StatusMethodNotAllowed, "MethodNotAllowed", "This path takes GET, HEAD."))
	})
}

func notFound() *view.Problem {
	return view.NewProblem(http.StatusNotFound, "NoSuchPath", "There is nothing at this path; /openapi.json says what there is.")
}

func forbidden(reason, detail string) *view.Problem {
	return view.NewProblem(http.StatusForbidden, reason, detail)
}

// writeError answers with the problem that an error is.
func (g *Gateway) writeError(w http.ResponseWriter, r *http.Request, err error) {
	problem := *asProblem(err)
	problem.Instance = instance(r.Context())
	g.noteFailure(r.Context(), &problem, err)
	maps.Copy(w.Header(), problem.GetHeaders())
	body, marshalErr := json.Marshal(problem)
	if marshalErr != nil {
		body = []byte(`{"type":"` + view.ProblemType + `InternalError"}`)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(problem.Status)
	_, _ = w.Write(append(body, '\n'))
}

// noteFailure leaves a line in the log for what is not the caller's fault. The answer names the request, and the log the cause.
func (g *Gateway) noteFailure(ctx context.Context, problem *view.Problem, err error) {
	if problem.Status < http.StatusInternalServerError || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	g.options.Log.Info("Cannot answer a request", "request", instance(ctx), "status", problem.Status, "cause", err.Error())
}

// register registers a route. Every error of its handler is a problem: huma knows no others, and would call them its own.
func register[I, O any](g *Gateway, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	huma.Register(g.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err == nil {
			return out, nil
		}
		problem := asProblem(err)
		g.noteFailure(ctx, problem, err)
		return nil, problem
	})
}

// transformProblem turns every error of a route into a problem that names the request.
func transformProblem(ctx huma.Context, _ string, value any) (any, error) {
	if model, ok := value.(*huma.ErrorModel); ok {
		value = view.FromModel(model)
	}
	err, ok := value.(error)
	if !ok {
		return value, nil
	}
	problem := *asProblem(err)
	problem.Instance = instance(ctx.Context())
	return &problem, nil
}

// authenticate puts the caller into the context of the request.
func (g *Gateway) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := g.identity.Of(r)
		if err != nil {
			g.writeError(w, r, err)
			return
		}
		if pause := g.limits.Take(who.Key()); pause > 0 {
			g.writeError(w, r, access.TooMany(pause))
			return
		}
		next.ServeHTTP(w, r.WithContext(access.WithCaller(r.Context(), who)))
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
