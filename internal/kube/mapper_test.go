// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/kube"
)

// TestKindsThatAreServedButNotListedYet plays the moment after a CRD was established, which a real API server passes too fast: the kinds
// have their paths, and the list of all groups lacks them, has the group only, or marks it as stale.
func TestKindsThatAreServedButNotListedYet(t *testing.T) {
	t.Parallel()
	class := schema.GroupVersionKind{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"}
	pool := schema.GroupVersionKind{Group: "nodes.lailin.xyz", Version: "v1", Kind: "NodePool"}
	group := func(kind schema.GroupVersionKind, version string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"versions":[%s]}`, kind.Group, version)
	}
	fresh := func(kind schema.GroupVersionKind, resource string) string {
		return group(kind, fmt.Sprintf(`{"version":"v1","freshness":"Current","resources":[{"resource":%q,"responseKind":{"kind":%q},"scope":"Cluster"}]}`,
			resource, kind.Kind))
	}
	for name, test := range map[string]struct {
		groups string
		want   []schema.GroupVersionKind
	}{
		"both are listed":                   {groups: fresh(class, "runtimeclasses") + "," + fresh(pool, "nodepools")},
		"the group is not listed":           {groups: fresh(class, "runtimeclasses"), want: []schema.GroupVersionKind{pool}},
		"the group is stale":                {groups: fresh(class, "runtimeclasses") + "," + group(pool, `{"version":"v1","freshness":"Stale"}`), want: []schema.GroupVersionKind{pool}},
		"another kind of it is listed":      {groups: fresh(class, "runtimeclasses") + "," + fresh(pool.GroupVersion().WithKind("Other"), "others"), want: []schema.GroupVersionKind{pool}},
		"neither is listed, another one is": {groups: fresh(schema.GroupVersionKind{Group: "apps", Kind: "Deployment"}, "deployments"), want: []schema.GroupVersionKind{class, pool}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				groups := test.groups
				switch r.URL.Path {
				case "/api":
					groups = ""
				case "/apis":
				default:
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
				_, _ = fmt.Fprintf(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[%s]}`, groups)
			}))
			defer server.Close()
			_, got, err := kube.NewMapper(&rest.Config{Host: server.URL}, class, pool)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("kinds that clients do not find (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMapperOfAnAPIServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if _, got, err := kube.NewMapper(&rest.Config{Host: server.URL}, kube.Kinds()...); err == nil {
		t.Errorf("no error, and these are missing: %v", got)
	}
}
