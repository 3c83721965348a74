// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// read decodes a good answer.
func read[T any](t *testing.T, got answer) T {
	t.Helper()
	var out T
	if got.status != http.StatusOK {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	must(t, json.Unmarshal(got.body, &out))
	return out
}

// TestSummaryAndSearch count and find what the caller may list, and nothing else.
func TestSummaryAndSearch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns, hidden := r.Namespace(t), r.Namespace(t)
	token := r.user(t, ns, rule("list", "", "pods", "services"))
	admin := r.user(t, "", everything())
	broken := func(p *corev1.Pod) {
		r.Create(t, p)
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
		must(t, r.Live.Status().Update(t.Context(), p))
	}
	for _, in := range []string{ns, hidden} {
		for _, name := range []string{"bad", "worse"} {
			pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "somewhere", Containers: []corev1.Container{{Name: "main", Image: "shop/" + name + ":1"}}}}
			pod.Namespace, pod.Name = in, name
			broken(pod)
		}
		r.service(t, in, "web")
	}
	want := []view.KindSummary{
		{Kind: "pods", Total: 2, Failed: 2, Reasons: []view.ReasonCount{
			{Reason: "CrashLoopBackOff", State: view.HealthFailed, Count: 2, Example: view.Named{Namespace: ns, Name: "bad"}},
		}},
		{Kind: "services", Total: 1, Ready: 1, Reasons: []view.ReasonCount{}},
	}
	for _, path := range []string{"/v1/summary", "/v1/summary?ns=" + ns} {
		var got view.Summary
		testkit.Eventually(t, "the caches have all", func() bool {
			got = read[view.Summary](t, r.do(t, http.MethodGet, path, token, ""))
			got.Kinds = slices.DeleteFunc(got.Kinds, func(k view.KindSummary) bool { return k.Kind == view.NamespacesPlural })
			return cmp.Equal(want, got.Kinds)
		})
		if !slices.Contains(got.Hidden, "deployments") || slices.Contains(got.Hidden, "pods") {
			t.Errorf("%s hides %q", path, got.Hidden)
		}
	}
	if got := read[view.Summary](t, r.do(t, http.MethodGet, "/v1/summary?ns="+hidden, token, "")); len(got.Kinds) > 0 {
		t.Errorf("a namespace of others: %+v", got)
	}
	for query, want := range map[string][]view.FoundItem{
		"q=crashloopbackoff+" + ns: {
			{Kind: "pods", Named: view.Named{Namespace: ns, Name: "bad"}, State: view.HealthFailed, Reason: "CrashLoopBackOff"},
			{Kind: "pods", Named: view.Named{Namespace: ns, Name: "worse"}, State: view.HealthFailed, Reason: "CrashLoopBackOff"},
		},
		"q=shop/worse:1": {{Kind: "pods", Named: view.Named{Namespace: ns, Name: "worse"}, State: view.HealthFailed, Reason: "CrashLoopBackOff"}},
		"q=" + hidden:    {},
		"q=web&ns=" + ns: {{Kind: "services", Named: view.Named{Namespace: ns, Name: "web"}, State: view.HealthReady}},
	} {
		got := read[view.Found](t, r.do(t, http.MethodGet, "/v1/search?"+query, token, ""))
		if diff := cmp.Diff(want, got.Items); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	whole := read[view.Found](t, r.do(t, http.MethodGet, "/v1/search?q=shop/", admin, ""))
	if whole.More || len(whole.Items) < 2 {
		t.Fatalf("a search without a limit: %+v", whole)
	}
	limited := read[view.Found](t, r.do(t, http.MethodGet, "/v1/search?limit=1&q=shop/", admin, ""))
	if diff := cmp.Diff(whole.Items[:1], limited.Items); diff != "" || !limited.More {
		t.Errorf("a search with a limit, which says that there is more: %t (-want +got):\n%s", limited.More, diff)
	}
}

// TestRightsMatrix compares single rights with what is granted.
func TestRightsMatrix(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns, other := r.Namespace(t), r.Namespace(t)
	token := r.user(t, ns, rule("get,list", "", "pods"), rule("get", "", "pods/log"), rule("patch", "apps", "deployments/scale"))
	got := read[view.RightsMatrix](t, r.do(t, http.MethodGet, "/v1/rights?ns="+ns+","+other, token, ""))
	nothing := view.Actions{"get": false, "list": false, "watch": false, "delete": false, "logs": false, "evict": false, "exec": false, "attach": false, "debug": false}
	mine := view.Actions{"get": true, "list": true, "watch": false, "delete": false, "logs": true, "evict": false, "exec": false, "attach": false, "debug": false}
	if diff := cmp.Diff([]view.Actions{nothing, mine, nothing}, []view.Actions{got.Everywhere["pods"], got.Namespaces[ns]["pods"], got.Namespaces[other]["pods"]}); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	if scale := got.Namespaces[ns]["deployments"]; !scale["scale"] || scale["patch"] {
		t.Errorf("deployments: %v", scale)
	}
	var everywhere, inNamespaces []string
	for _, kind := range view.Kinds() {
		everywhere = append(everywhere, kind.Plural)
		if kind.Namespaced {
			inNamespaces = append(inNamespaces, kind.Plural)
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(everywhere)), slices.Sorted(maps.Keys(got.Everywhere))); diff != "" {
		t.Errorf("kinds everywhere (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(inNamespaces)), slices.Sorted(maps.Keys(got.Namespaces[ns]))); diff != "" {
		t.Errorf("kinds in a namespace (-want +got):\n%s", diff)
	}
	for _, query := range []string{"ns=a,,b", "ns=UPPER"} {
		if got := r.do(t, http.MethodGet, "/v1/rights?"+query, token, ""); got.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", query, got.status)
		}
	}
}

// TestKindsThatPagesLinkTo are read with the rights of the caller: the gateway's account has none for them.
func TestKindsThatPagesLinkTo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	config := &corev1.ConfigMap{Data: map[string]string{"key": "value"}}
	config.Namespace, config.Name = ns, "settings"
	r.Create(t, config)
	token := r.user(t, ns, rule("get,list", "", "configmaps"))
	if diff := cmp.Diff([]string{ns + "/settings"}, r.do(t, http.MethodGet, "/v1/configmaps?ns="+ns+"&q=settings", token, "").names(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for path, want := range map[string]int{
		"/v1/configmaps/" + ns + "/settings": 200, "/v1/configmaps/" + ns + "/settings/yaml": 200, "/v1/jobs?ns=" + ns: 403, "/v1/watch?kinds=configmaps": 422,
	} {
		if got := r.do(t, http.MethodGet, path, token, ""); got.status != want {
			t.Errorf("%s: status %d, want %d: %s", path, got.status, want, got.body)
		}
	}
	if got := r.do(t, http.MethodDelete, "/v1/configmaps/"+ns+"/settings", token, ""); got.status != http.StatusMethodNotAllowed {
		t.Errorf("deleting one: %d", got.status)
	}
}
