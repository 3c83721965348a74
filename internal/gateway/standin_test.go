// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// reviews are the answers of an API server that a test makes, because a real one does not change its mind about a token.
type reviews struct {
	// groups returns the groups of a token, and false for a token that is not accepted.
	groups func(token string) ([]string, bool)
	// because returns what is said of a token that is not accepted. Default: nil, which says nothing.
	because func() string
	// allowed reports whether members of the groups may do whatever it is.
	allowed func(groups []string) bool
}

// standIn starts a gateway in front of an API server that has these reviews and routes, and nothing else.
func standIn(t *testing.T, of reviews, routes map[string]http.HandlerFunc, options Options) *rig {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/tokenreviews", func(w http.ResponseWriter, r *http.Request) {
		var review authenticationv1.TokenReview
		if json.NewDecoder(r.Body).Decode(&review) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		groups, accepted := of.groups(review.Spec.Token)
		review.Status = authenticationv1.TokenReviewStatus{Authenticated: accepted, User: authenticationv1.UserInfo{Username: "ann", Groups: groups}}
		if of.because != nil && !accepted {
			review.Status.Error = of.because()
		}
		writeJSON(w, review)
	})
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", func(w http.ResponseWriter, r *http.Request) {
		var review authorizationv1.SubjectAccessReview
		if json.NewDecoder(r.Body).Decode(&review) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		review.Status.Allowed = of.allowed(review.Spec.Groups)
		writeJSON(w, review)
	})
	for pattern, handler := range routes {
		mux.HandleFunc(pattern, handler)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	r := &rig{log: &logLines{}}
	// In place of protobuf, which clients of Kubernetes' own kinds prefer.
	options.Plaintext, options.Config = true, &rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: mediaJSON}}
	r.serve(t, options)
	return r
}

func writeJSON(w http.ResponseWriter, content any) {
	raw, err := json.Marshal(content)
	if err != nil {
		panic(err) // the test made it
	}
	w.Header().Set("Content-Type", mediaJSON)
	_, _ = w.Write(raw) // a client that has left cannot be answered
}
