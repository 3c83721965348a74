// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/action"
	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

type requestIDKey struct{}

// instance returns the name of a request in problems.
func instance(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return "urn:windlass:request:" + id
}

func notFound() *view.Problem {
	return view.NewProblem(http.StatusNotFound, "NoSuchPath", "There is nothing at this path. See /openapi.json for all paths.")
}

func forbidden(code view.Code, detail string) *view.Problem {
	return view.NewProblem(http.StatusForbidden, code, detail)
}

// writeError answers with a problem.
func (a *API) writeError(w http.ResponseWriter, r *http.Request, err error) {
	problem := *asProblem(err)
	problem.Instance = instance(r.Context())
	a.noteFailure(r.Context(), &problem, err)
	maps.Copy(w.Header(), problem.GetHeaders())
	body, marshalErr := json.Marshal(problem)
	if marshalErr != nil {
		body = []byte(`{"type":"` + view.ProblemType + `InternalError"}`)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(problem.Status)
	_, _ = w.Write(append(body, '\n'))
}

// noteFailure logs what is not the caller's fault. The answer has the name of the request, and the log its cause.
func (a *API) noteFailure(ctx context.Context, problem *view.Problem, err error) {
	if problem.Status < http.StatusInternalServerError || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	a.Log.Info("Request failed", "request", instance(ctx), "status", problem.Status, "cause", err.Error())
}

// handle registers a route. It turns every error of the handler into a problem, because huma would hide other errors.
func handle[I, O any](a *API, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	huma.Register(a.routes, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err == nil {
			tellAge(ctx)
			return out, nil
		}
		problem := asProblem(err)
		a.noteFailure(ctx, problem, err)
		return nil, problem
	})
}

// transformProblem turns every error of a route into a problem with the name of the request.
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

// asProblem returns the problem that an error is. The cause of a failure between the gateway and the API server goes to the
// log only, because it may name addresses.
func asProblem(err error) *view.Problem {
	if problem, ok := errors.AsType[*view.Problem](err); ok {
		return problem
	}
	if refusal, ok := errors.AsType[*action.Refusal](err); ok {
		return refusalProblem(refusal)
	}
	if errors.Is(err, access.ErrUndecided) {
		out := view.NewProblem(http.StatusServiceUnavailable, view.CodeOf(http.StatusServiceUnavailable),
			"The API server cannot check the token at present. Try again in a moment.")
		out.RetryAfter = "1"
		return out.With(view.ParameterSeconds, out.RetryAfter)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return view.NewProblem(http.StatusGatewayTimeout, "Timeout", "The API server did not answer in time.")
	}
	return view.NewProblem(http.StatusBadGateway, "BadGateway", "The gateway cannot reach the API server.")
}

// refusalProblem returns the problem of an action that is refused.
func refusalProblem(of *action.Refusal) *view.Problem {
	if of.Field != "" {
		return view.NewProblem(http.StatusUnprocessableEntity, "Invalid", "The request is not valid.",
			view.FieldError{Location: "body." + of.Field, Message: of.Detail})
	}
	return view.NewProblem(http.StatusConflict, view.Code(of.Code), of.Detail).With(view.ParameterCurrent, of.Current)
}

// fieldErrors returns all errors of a request as one problem.
func fieldErrors(err error) error {
	var all []view.FieldError
	collect(err, &all)
	return view.NewProblem(http.StatusUnprocessableEntity, "Invalid", "The request is not valid.", all...)
}

func collect(err error, into *[]view.FieldError) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, single := range joined.Unwrap() {
			collect(single, into)
		}
		return
	}
	if field, ok := errors.AsType[*view.FieldError](err); ok {
		*into = append(*into, *field)
		return
	}
	*into = append(*into, view.FieldError{Message: err.Error()})
}
