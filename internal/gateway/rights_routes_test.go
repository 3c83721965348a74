// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/client"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// compareOthers sends one random request to a route that is not one verb of one kind.
func (r *rig) compareOthers(t *testing.T, random *rand.Rand, token string, namespaces []string, can canI) {
	t.Helper()
	ns, name := namespaces[random.IntN(len(namespaces))], []string{"a", "b"}[random.IntN(2)]
	scaled := r.kind(t, []string{view.DeploymentsPlural, "podsets"}[random.IntN(2)])
	scale := &view.Kind{GVK: scaled.GVK, Plural: scaled.Plural + "/scale"}
	events := &view.Kind{GVK: corev1.SchemeGroupVersion.WithKind("Event"), Plural: "events"}
	both := func(verb, name string) bool {
		return can(verb, &r.kind(t, view.DeploymentsPlural).Kind, ns, name) && can(verb, &r.kind(t, view.ServicesPlural).Kind, ns, name)
	}
	service := fmt.Sprintf(`{"apiVersion":"v1","kind":"Service","metadata":{"name":%q}}`, name)
	app := fmt.Sprintf(`{"name":"fresh","namespace":%q,"image":"web:1"}`, ns)
	routes := []struct {
		method, path, body string
		want               func() bool
	}{
		{http.MethodPut, "/v1/services/" + ns + "/" + name + "?dryRun=All", service, func() bool { return can("patch", &r.kind(t, view.ServicesPlural).Kind, ns, name) }},
		{
			http.MethodPatch, "/v1/" + scaled.Plural + "/" + ns + "/" + name + "/scale?dryRun=All", `{"replicas":1}`,
			func() bool { return can("patch", scale, ns, name) },
		},
		{http.MethodGet, "/v1/services/" + ns + "/" + name + "/yaml", "", func() bool { return can("get", &r.kind(t, view.ServicesPlural).Kind, ns, name) }},
		{http.MethodGet, "/v1/services/" + ns + "/" + name + "/events", "", func() bool { return can("list", events, ns, "") }},
		{http.MethodGet, "/v1/apps?ns=" + ns, "", func() bool { return both("list", "") }},
		{http.MethodGet, "/v1/apps/" + ns + "/" + name, "", func() bool { return both("get", name) }},
		{http.MethodPost, "/v1/apps?dryRun=All", app, func() bool { return both("create", "") }},
		// What is there has the name of an app and is none, so that nothing is deleted.
		{http.MethodDelete, "/v1/apps/" + ns + "/" + name, "", func() bool { return both("get", name) }},
	}
	route := routes[random.IntN(len(routes))]
	got, want := r.do(t, route.method, route.path, token, route.body), route.want()
	if allowed := got.status != http.StatusForbidden; allowed != want {
		t.Errorf("%s %s: status %d, but the API server says %t: %s", route.method, route.path, got.status, want, got.body)
	}
}

// compareStreams opens streams of everything, and of one namespace: they show exactly what the user can list and watch, and say of
// everything else that it is denied.
func (r *rig) compareStreams(t *testing.T, token string, namespaces []string, can canI) {
	t.Helper()
	follow := func(k *feed.Kind, namespace string) bool {
		return can("list", &k.Kind, namespace, "") && can("watch", &k.Kind, namespace, "")
	}
	for _, within := range append([]string{""}, namespaces...) {
		denied, seen := r.beginning(t, token, within, namespaces)
		var want []string
		for _, ns := range slices.Sorted(slices.Values(namespaces)) {
			if (within == "" || within == ns) && follow(r.kind(t, view.ServicesPlural), ns) {
				want = append(want, ns+"/a", ns+"/b")
			}
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("services of a stream within %q (-want +got):\n%s", within, diff)
		}
		for _, k := range r.g.hub.Kinds {
			if k.Quiet || k.Uncached {
				continue // nobody asked for them
			}
			if k.Plural == view.NamespacesPlural {
				continue // some of which he may see, one by one
			}
			allowed := follow(k, "")
			if k.Namespaced && within != "" {
				allowed = follow(k, within)
			}
			for _, ns := range namespaces {
				allowed = allowed || k.Namespaced && within == "" && follow(k, ns)
			}
			if denied[k.Plural] == allowed {
				t.Errorf("a stream of %s within %q says denied: %t, but the API server allows it: %t", k.Plural, within, denied[k.Plural], allowed)
			}
		}
	}
}

// beginning returns the kinds that a stream denies, and the services of the namespaces in its snapshot: other tests have others.
func (r *rig) beginning(t *testing.T, token, within string, namespaces []string) (denied map[string]bool, services []string) {
	t.Helper()
	denied = map[string]bool{}
	seen := map[string]bool{}
	for event, err := range (&client.Client{Base: r.base, Token: token}).Watch(t.Context(), within, "") {
		must(t, err)
		if event.Name == client.EventDenied {
			denied[event.Kind] = true
		}
		if event.Kind == view.ServicesPlural {
			for _, raw := range event.Items {
				var object metav1.PartialObjectMetadata
				must(t, json.Unmarshal(raw, &object))
				seen[object.Namespace+"/"+object.Name] = slices.Contains(namespaces, object.Namespace)
			}
		}
		if event.Done {
			break
		}
	}
	maps.DeleteFunc(seen, func(_ string, ours bool) bool { return !ours })
	return denied, slices.Sorted(maps.Keys(seen))
}
