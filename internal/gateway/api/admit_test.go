// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// TestAnEventSourceIsCutWhileNobodyCanSayWhoCalls has the errors of who calls. An EventSource that is refused while the OpenID provider is away never came back.
func TestAnEventSourceIsCutWhileNobodyCanSayWhoCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err error
		cut bool
	}{
		"the API server is away":      {errors.New("connection refused"), true},
		"the API server cannot check": {access.ErrUndecided, true},
		"the OpenID provider is away": {errors.Join(view.NewProblem(http.StatusServiceUnavailable, "ProviderUnavailable", ""), errors.New("timeout")), true},
		"too many tokens are checked": {access.Busy(""), true},
		"the token is not accepted":   {view.NewProblem(http.StatusUnauthorized, "Unauthorized", ""), false},
		"another page has sent it":    {view.NewProblem(http.StatusForbidden, "CrossOrigin", ""), false},
		"the caller asks too often":   {access.TooMany(1), false},
	} {
		for accept, reconnects := range map[string]bool{feed.MediaType: true, "*/*": false} {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, watchPath, http.NoBody)
			request.Header.Set("Accept", accept)
			if cut := isCut(request, c.err); cut != (c.cut && reconnects) {
				t.Errorf("%s, for %s: the connection is cut: %t", name, accept, cut)
			}
		}
	}
}

// isCut reports whether the connection of a request with this error is closed without an answer.
func isCut(request *http.Request, err error) (cut bool) {
	defer func() {
		cause := recover()
		if err, _ := cause.(error); errors.Is(err, http.ErrAbortHandler) {
			cut = true
		} else if cause != nil {
			panic(cause)
		}
	}()
	(&API{}).cutStream(request, err)
	return false
}
