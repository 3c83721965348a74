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
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// TestAnswersAreWhatTheAPIServerAllows is a property: for random rights and requests the gateway allows exactly what the API server
// says, to the same user, that he can do.
func TestAnswersAreWhatTheAPIServerAllows(t *testing.T) { //nolint:tparallel // because the users share one source of randomness
	t.Parallel()
	r := newRig(t)
	namespaces := []string{r.Namespace(t), r.Namespace(t), r.Namespace(t)}
	for _, ns := range namespaces {
		r.service(t, ns, "a")
		r.service(t, ns, "b")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range 12 { //nolint:paralleltest // because the users share one source of randomness
		t.Run(fmt.Sprintf("user %d", i), func(t *testing.T) {
			home := r.Namespace(t)
			token := r.token(t, home, "user")
			for range random.IntN(4) {
				where := append([]string{""}, namespaces...)[random.IntN(4)]
				r.grant(t, home, where, randomRule(random))
			}
			can := r.canI(t, token)
			for range 25 {
				r.compare(t, random, token, namespaces, can)
				r.compareOthers(t, random, token, namespaces, can)
			}
			r.compareLists(t, token, namespaces, can)
			r.compareStreams(t, token, namespaces, can)
		})
	}
}

func randomRule(random *rand.Rand) rbacv1.PolicyRule {
	pick := func(of ...string) []string {
		return slices.DeleteFunc(of, func(string) bool { return random.IntN(2) == 0 })
	}
	out := rbacv1.PolicyRule{
		APIGroups: []string{"", "apps", "apps.jicki.cn", "nodes.lailin.xyz"},
		Verbs:     append(pick("get", "list", "watch", "create", "patch", "delete"), "update"),
		Resources: append(pick("nodes", "namespaces", "services", "deployments", "deployments/scale", "podsets", "podsets/scale", "nodepools",
			"events"), "configmaps"),
	}
	if random.IntN(4) == 0 {
		out.ResourceNames = []string{"a"}
	}
	return out
}

// canI is "kubectl auth can-i" of a user. The plural of a kind may be a subresource, as in deployments/scale.
type canI func(verb string, k *view.Kind, namespace, name string) bool

// canI asks the API server as the user.
func (r *rig) canI(t *testing.T, token string) canI {
	t.Helper()
	config := rest.AnonymousClientConfig(r.Config)
	config.BearerToken, config.QPS = token, -1
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	return func(verb string, k *view.Kind, namespace, name string) bool {
		t.Helper()
		if k.Plural == view.NamespacesPlural {
			namespace = name // a request for one names it twice
		}
		resource, subresource, _ := strings.Cut(k.Plural, "/")
		review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Group: k.GVK.Group, Version: k.GVK.Version, Resource: resource, Subresource: subresource,
				Namespace: namespace, Name: name,
			}},
		}, metav1.CreateOptions{})
		must(t, err)
		return review.Status.Allowed
	}
}

// compare sends one random request.
func (r *rig) compare(t *testing.T, random *rand.Rand, token string, namespaces []string, can canI) {
	t.Helper()
	k := &r.g.hub.Kinds[random.IntN(len(r.g.hub.Kinds))].Kind
	namespace, name := "", []string{"a", "b"}[random.IntN(2)]
	if k.Namespaced {
		namespace = namespaces[random.IntN(len(namespaces))]
	}
	if k.Plural == view.NamespacesPlural {
		name = namespaces[random.IntN(len(namespaces))]
	}
	path := "/v1/" + k.Plural + "/" + name
	if k.Namespaced {
		path = "/v1/" + k.Plural + "/" + namespace + "/" + name
	}
	var got answer
	var want bool
	verb := []string{"get", "delete", "list", "create"}[random.IntN(4)]
	switch verb {
	case "get":
		got, want = r.do(t, http.MethodGet, path, token, ""), can(verb, k, namespace, name)
	case "delete":
		got, want = r.do(t, http.MethodDelete, path+"?dryRun=All", token, ""), can(verb, k, namespace, name)
	case "create":
		body := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"}}`, k.GVK.GroupVersion().String(), k.GVK.Kind)
		query := "?dryRun=All"
		if k.Namespaced {
			query += "&ns=" + namespace
		}
		got, want = r.do(t, http.MethodPost, "/v1/"+k.Plural+query, token, body), can(verb, k, namespace, "")
	default:
		if !k.Namespaced {
			return // see compareLists
		}
		got, want = r.do(t, http.MethodGet, "/v1/"+k.Plural+"?ns="+namespace, token, ""), can(verb, k, namespace, "")
	}
	if got.status == http.StatusMethodNotAllowed && k.Access != view.AccessFull {
		return // the API does not offer it to anybody
	}
	if allowed := got.status != http.StatusForbidden; allowed != want {
		t.Errorf("%s %s %s/%s: status %d, but the API server says %t: %s", verb, k.Plural, namespace, name, got.status, want, got.body)
	}
}

// compareLists compares lists of everything: they show exactly what the user can list, namespace by namespace.
func (r *rig) compareLists(t *testing.T, token string, namespaces []string, can canI) {
	t.Helper()
	for _, k := range r.g.hub.Kinds {
		got := r.do(t, http.MethodGet, "/v1/"+k.Plural, token, "")
		everywhere := can("list", &k.Kind, "", "")
		switch {
		case k.Plural == view.NamespacesPlural:
			r.compareNamespaces(t, got, everywhere, namespaces, can)
		case !k.Namespaced || everywhere:
			if (got.status == http.StatusOK) != everywhere {
				t.Errorf("list of %s: status %d, but the API server says %t", k.Plural, got.status, everywhere)
			}
		case k.Plural == view.ServicesPlural:
			var want []string
			for _, ns := range slices.Sorted(slices.Values(namespaces)) {
				if can("list", &k.Kind, ns, "") {
					want = append(want, ns+"/a", ns+"/b")
				}
			}
			if len(want) == 0 {
				if got.status != http.StatusForbidden {
					t.Errorf("list of services: status %d, but there is none that he may list", got.status)
				}
			} else if diff := cmp.Diff(want, got.names(t)); diff != "" {
				t.Errorf("list of services (-want +got):\n%s", diff)
			}
		}
	}
}

// compareNamespaces compares the computed list of namespaces: names where he may list something, whole where he may get it.
func (r *rig) compareNamespaces(t *testing.T, got answer, everywhere bool, namespaces []string, can canI) {
	t.Helper()
	self := r.kind(t, view.NamespacesPlural)
	want := map[string]bool{}
	for _, ns := range namespaces {
		whole := everywhere || can("get", &self.Kind, ns, ns)
		some := whole
		for _, k := range r.g.hub.Kinds {
			some = some || k.Namespaced && can("list", &k.Kind, ns, "")
		}
		if some {
			want[ns] = whole
		}
	}
	have := map[string]bool{}
	if got.status == http.StatusOK {
		var list struct {
			Items []struct {
				Metadata metav1.ObjectMeta `json:"metadata"`
			} `json:"items"`
		}
		must(t, json.Unmarshal(got.body, &list))
		for _, item := range list.Items {
			if slices.Contains(namespaces, item.Metadata.Name) {
				have[item.Metadata.Name] = item.Metadata.UID != ""
			}
		}
	}
	if !maps.Equal(want, have) {
		t.Errorf("namespaces, and whether whole: %v, want %v", have, want)
	}
}
