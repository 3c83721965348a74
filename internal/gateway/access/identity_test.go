// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// TestAttackAStreamBeginsWithFormerGroups has a user who has left a group, and a stream of theirs that begins while nobody reviews tokens. It is the
// caller who was reviewed last, by whatever asked.
func TestAttackAStreamBeginsWithFormerGroups(t *testing.T) {
	t.Parallel()
	groups, silent := []string{"admins"}, false
	i := &Identity{
		unknown: newReviews(), accepted: utilcache.NewLRUExpireCache(maxAccepted),
		tokens: authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
			if silent {
				<-r.Context().Done()
				return nil, false, r.Context().Err()
			}
			return &authenticator.Response{User: &user.DefaultInfo{Name: "ann", Groups: groups}}, true, nil
		}),
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/watch", http.NoBody)
	request.Header.Set("Authorization", "Bearer token")
	before, err := i.OfStream(request, time.Hour)
	if err != nil || len(before.User.GetGroups()) != 1 {
		t.Fatalf("the caller is %+v: %v", before, err)
	}
	groups = nil
	if now, valid, err := i.Refresh(t.Context(), before); err != nil || !valid || len(now.User.GetGroups()) > 0 {
		t.Errorf("an open stream is of %+v: %t, %v", now, valid, err)
	}
	silent = true
	if now, err := i.OfStream(request, time.Millisecond); err != nil || len(now.User.GetGroups()) > 0 {
		t.Errorf("a new stream is of %+v: %v", now, err)
	}
}

func FuzzCredentials(f *testing.F) {
	f.Add("Bearer a", "127.0.0.1:1")
	f.Add("bearer", "[::1]:1")
	f.Add("Basic YTpi", "localhost")
	f.Fuzz(func(t *testing.T, header, host string) {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		request.Header["Authorization"] = []string{header}
		if token, ok := bearerToken(request); !ok || strings.TrimSpace(token) != token {
			t.Errorf("the token of %q is %q, %t", header, token, ok)
		}
		if IsLoopback(host) && strings.Contains(host, "example") {
			t.Errorf("%q is taken for this machine", host)
		}
	})
}
