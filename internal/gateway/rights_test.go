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
type canI func(verb string, k *kind, namespace, name string) bool

// canI asks the API server as the user.
func (r *rig) canI(t *testing.T, token string) canI {
	t.Helper()
	config := rest.AnonymousClientConfig(r.Config)
	config.BearerToken, config.QPS = token, -1
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	return func(verb string, k *kind, namespace, name string) bool {
		t.Helper()
		if k.plural == namespacesPlural {
			namespace = name // a request for one names it twice
		}
		resource, subresource, _ := strings.Cut(k.plural, "/")
		review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Group: k.gvk.Group, Version: k.gvk.Version, Resource: resource, Subresource: subresource,
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
	k := &r.g.kinds[random.IntN(len(r.g.kinds))]
	namespace, name := "", []string{"a", "b"}[random.IntN(2)]
	if k.namespaced {
		namespace = namespaces[random.IntN(len(namespaces))]
	}
	if k.plural == namespacesPlural {
		name = namespaces[random.IntN(len(namespaces))]
	}
	path := "/v1/" + k.plural + "/" + name
	if k.namespaced {
		path = "/v1/" + k.plural + "/" + namespace + "/" + name
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
		body := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"}}`, k.gvk.GroupVersion().String(), k.gvk.Kind)
		query := "?dryRun=All"
		if k.namespaced {
			query += "&ns=" + namespace
		}
		got, want = r.do(t, http.MethodPost, "/v1/"+k.plural+query, token, body), can(verb, k, namespace, "")
	default:
		if !k.namespaced {
			return // see compareLists
		}
		got, want = r.do(t, http.MethodGet, "/v1/"+k.plural+"?ns="+namespace, token, ""), can(verb, k, namespace, "")
	}
	if allowed := got.status != http.StatusForbidden; allowed != want {
		t.Errorf("%s %s %s/%s: status %d, but the API server says %t: %s", verb, k.plural, namespace, name, got.status, want, got.body)
	}
}

// compareLists compares lists of everything: they show exactly what the user can list, namespace by namespace.
func (r *rig) compareLists(t *testing.T, token string, namespaces []string, can canI) {
	t.Helper()
	for i := range r.g.kinds {
		k := &r.g.kinds[i]
		got := r.do(t, http.MethodGet, "/v1/"+k.plural, token, "")
		everywhere := can("list", k, "", "")
		switch {
		case k.plural == namespacesPlural:
			r.compareNamespaces(t, got, everywhere, namespaces, can)
		case !k.namespaced || everywhere:
			if (got.status == http.StatusOK) != everywhere {
				t.Errorf("list of %s: status %d, but the API server says %t", k.plural, got.status, everywhere)
			}
		case k.plural == servicesPlural:
			var want []string
			for _, ns := range slices.Sorted(slices.Values(namespaces)) {
				if can("list", k, ns, "") {
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
	_, self := r.g.kindOf(namespacesPlural)
	want := map[string]bool{}
	for _, ns := range namespaces {
		whole := everywhere || can("get", self, ns, ns)
		some := whole
		for i := range r.g.kinds {
			k := &r.g.kinds[i]
			some = some || k.namespaced && can("list", k, ns, "")
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
