// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const (
		nodes  = "/api/v1/nodes"
		leases = "/apis/coordination.k8s.io/v1/namespaces/windlass-system/leases"
	)
	cases := map[string]struct {
		method, path, body string
		want               string
	}{
		"a patch is known by the object":               {method: http.MethodPatch, path: nodes + "/a", want: "patch nodes/a"},
		"a status is another object":                   {method: http.MethodPatch, path: nodes + "/a/status", want: "patch nodes/a/status"},
		"the group belongs to the resource":            {method: http.MethodDelete, path: "/apis/node.k8s.io/v1/runtimeclasses/red", want: "delete runtimeclasses.node.k8s.io/red"},
		"what is created has its name in the body":     {method: http.MethodPost, path: "/api/v1/namespaces/default/pods", body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`, want: "create pods/default/a"},
		"a kind that nobody registered has a name too": {method: http.MethodPost, path: "/apis/example.com/v1/things", body: `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"}}`, want: "create things.example.com/a"},
		"an event is known by what it is about":        {method: http.MethodPost, path: "/apis/events.k8s.io/v1/namespaces/default/events", body: `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"red.18a"},"regarding":{"kind":"NodePool","name":"red"},"reason":"NodesJoined"}`, want: "create events.events.k8s.io/default/NodePool/red/NodesJoined"},
		"an eviction is one":                           {method: http.MethodPost, path: "/api/v1/namespaces/default/pods/a/eviction", want: "create pods/default/a/eviction"},
		"the Lease of the election is none":            {method: http.MethodPut, path: leases + "/windlass"},
		"what a tool prints while it runs is none":     {method: http.MethodPatch, path: "/api/v1/namespaces/windlass-system/configmaps/a-running"},
		"the log of a run that has ended is one":       {method: http.MethodPatch, path: "/api/v1/namespaces/windlass-system/configmaps/a-log", want: "patch configmaps/windlass-system/a-log"},
		"reading is none":                              {method: http.MethodGet, path: nodes + "/a"},
		"a question that is sent as POST is none":      {method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"},
		"a dry run is none":                            {method: http.MethodPatch, path: nodes + "/a?dryRun=All"},
		"a request that concerns no object is none":    {method: http.MethodPost, path: "/healthz"},
	}
	reader := newRequestReader()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ok := reader.read(httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, http.NoBody), []byte(tc.body))
			if got := e.Verb + " " + e.Object; ok != (tc.want != "") || ok && got != tc.want {
				t.Errorf("got %q, %t, want %q", got, ok, tc.want)
			}
		})
	}
}
