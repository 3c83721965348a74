// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// guard is in front of everything: it names the request, sets the headers of every answer, refuses hosts that are not ours,
// and turns a panic into an answer.
func (a *API) guard(next http.Handler) http.Handler {
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
		defer a.recovered(w, r)
		// Otherwise a page of a foreign name that resolves to this machine would share our origin (DNS rebinding).
		if a.Local && !access.IsLoopback(r.Host) {
			a.writeError(w, r, view.NewProblem(http.StatusMisdirectedRequest, "Host", "This server answers requests for a loopback host only."))
			return
		}
		if path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/") && r.URL.Path != "/" {
			a.writeError(w, r, notFound())
			return
		}
		if err := unambiguous(r); err != nil {
			a.writeError(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// unambiguous returns the problem of a request that asks for what no caller gets, or that can be read in two ways.
func unambiguous(r *http.Request) error {
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			return view.NewProblem(http.StatusBadRequest, "Impersonation",
				"The API impersonates nobody: leave out the header "+name+", and send a token of that user.").With(view.ParameterHeader, name)
		}
	}
	if r.Header.Get("If-Match") != "" && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return view.NewProblem(http.StatusBadRequest, "BadRequest", "Writes are not held to tags: leave out If-Match. uid=UID holds a write to the object that you have seen, and a "+
			"metadata.resourceVersion in the body of a PATCH, or of a PUT with replace=true, to its version.")
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return view.NewProblem(http.StatusBadRequest, "BadRequest", "Cannot parse the query: "+err.Error()+".")
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(query[name]) > 1 && !repeatable(r.URL.Path, name) {
			errs = append(errs, &view.FieldError{Location: "query." + name, Message: "is there more than once", Code: view.FieldDuplicate})
		}
	}
	if len(errs) > 0 {
		return fieldErrors(errors.Join(errs...))
	}
	return nil
}

// repeatable reports whether a parameter may be there more than once.
func repeatable(where, name string) bool {
	part, _ := isSession(where)
	return part == execPart && name == commandParameter
}

// bounded gives every request an end. A stream moves the deadlines of its connection itself, once its caller is known.
func (a *API) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A connection without deadlines, such as a recorder in a test, needs none.
		end := a.Now().Add(a.Timeout + time.Second)
		_ = http.NewResponseController(w).SetReadDeadline(end)
		_ = http.NewResponseController(w).SetWriteDeadline(end)
		if isEndless(r) {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), a.Timeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func (a *API) recovered(w http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause) // how net/http is told to close a connection
	}
	a.Log.Info("Request panicked", "request", instance(r.Context()), "cause", cause, "stack", string(debug.Stack()))
	a.writeError(w, r, view.NewProblem(http.StatusInternalServerError, "InternalError",
		"An unexpected error occurred. The log has its cause under the id of this request."))
}

// unrouted answers requests that match no route: not found, or a method that is not allowed.
func (a *API) unrouted(mux *http.ServeMux) http.Handler {
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
			a.writeError(w, r, notFound())
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		a.writeError(w, r, view.NewProblem(http.StatusMethodNotAllowed, "MethodNotAllowed",
			"This path allows "+strings.Join(allowed, ", ")+".").With(view.ParameterAllowed, strings.Join(allowed, ", ")))
	})
}

// readOnly allows requests that read, and no others.
func (a *API) readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", "GET, HEAD")
		a.writeError(w, r, view.NewProblem(http.StatusMethodNotAllowed, "MethodNotAllowed", "This path allows GET, HEAD.").
			With(view.ParameterAllowed, "GET, HEAD"))
	})
}
