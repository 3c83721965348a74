// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// bodyTimeout is how long a body may take to arrive.
const bodyTimeout = 10 * time.Second

// authenticate admits requests of known callers within their limits, puts the caller into the context and reads the body.
func (a *API) authenticate(routes *http.ServeMux) http.Handler {
	next := a.unrouted(routes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := a.identify(r)
		if err != nil {
			a.cutStream(r, err)
			a.dismiss(w, r, err)
			return
		}
		if pause := a.Limits.Take(who.Key()); pause > 0 {
			a.dismiss(w, r, access.TooMany(pause))
			return
		}
		_, pattern := routes.Handler(r)
		held := a.bodies.Share(who)
		defer held.Release()
		body, err := a.receive(w, r, cmp.Or(a.bodyLimits[pattern], maxNoBody), held)
		if err != nil {
			a.dismiss(w, r, err)
			return
		}
		ctx, release := a.holding(access.WithCaller(r.Context(), who), who)
		defer release()
		r = r.WithContext(aging(ctx, w.Header()))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// identify returns who sent the request. A stream does not wait for the API server: it is accepted, and held until there is an answer.
func (a *API) identify(r *http.Request) (*access.Caller, error) {
	if r.URL.Path == watchPath && r.Method == http.MethodGet {
		return a.Identity.OfStream(r, a.Silence)
	}
	return a.Identity.Of(r)
}

// greet admits requests of everybody to the routes by which callers log in, with a small body. These routes find out themselves who calls.
func (a *API) greet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := a.receive(w, r, maxLogin, nil)
		if err != nil {
			a.dismiss(w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// cutStream closes the connection of an EventSource without an answer while nobody can say who calls. A browser reconnects when a
// connection breaks, and never again after an error status.
func (a *API) cutStream(r *http.Request, err error) {
	problem, known := errors.AsType[*view.Problem](err)
	refused := known && problem.Status != http.StatusServiceUnavailable
	if refused || r.URL.Path != watchPath || r.Method != http.MethodGet || r.Header.Get("Accept") != feed.MediaType {
		return
	}
	a.Log.Info("Request failed", "request", instance(r.Context()), "cause", err.Error())
	panic(http.ErrAbortHandler)
}

// receive reads the whole body, so that no route waits for a slow sender. What has arrived of it counts for the share.
func (a *API) receive(w http.ResponseWriter, r *http.Request, most int, held *access.Share) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(a.Now().Add(bodyTimeout))
	body, err := io.ReadAll(&heldReader{io.LimitReader(r.Body, int64(most)+1), held})
	switch {
	case errors.Is(err, access.ErrNoRoom):
		return nil, access.Busy("The gateway holds too many bodies. Try again in a second.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, view.NewProblem(http.StatusRequestTimeout, "Timeout", "The body did not arrive within "+bodyTimeout.String()+".")
	case err != nil:
		return nil, view.NewProblem(http.StatusBadRequest, "BadRequest", "Cannot read the body: "+err.Error())
	case len(body) > most:
		return nil, view.NewProblem(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			fmt.Sprintf("The body must not be larger than %d KiB.", most>>10)).With(view.ParameterLimit, strconv.Itoa(most))
	}
	_ = control.SetReadDeadline(a.Now().Add(a.Timeout + time.Second))
	return body, nil
}

// dismiss answers a request whose body was not read, and closes the connection, so that the rest of the body is not waited
// for.
func (a *API) dismiss(w http.ResponseWriter, r *http.Request, err error) {
	_ = http.NewResponseController(w).SetReadDeadline(a.Now())
	w.Header().Set("Connection", "close")
	a.writeError(w, r, err)
}
