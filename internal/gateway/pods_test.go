// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/windlass-operator/windlass/internal/gateway/client"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// pod creates a pod on the node.
func (r *rig) pod(t *testing.T, namespace, name, node string, change ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "registry.example/" + name + ":1"}}},
	}
	for _, c := range change {
		c(pod)
	}
	r.Create(t, pod)
	return pod
}

// TestPodsByNodeAndOwner selects pods as a page of a node and of an object does.
func TestPodsByNodeAndOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	owner := types.UID("11111111-2222-3333-4444-555555555555")
	r.pod(t, ns, "a", "", func(p *corev1.Pod) { p.Spec.NodeName = ns + "-1" })
	r.pod(t, ns, "b", ns+"-2", func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "set", UID: owner}}
	})
	for query, want := range map[string][]string{
		"ns=" + ns: {ns + "/a", ns + "/b"},
		"fieldSelector=spec.nodeName%3D" + ns + "-1":                {ns + "/a"},
		"ns=" + ns + "&fieldSelector=spec.nodeName!%3D" + ns + "-1": {ns + "/b"},
		"owner=" + string(owner) + "&ns=" + ns:                      {ns + "/b"},
		"owner=" + string(owner) + "&ns=" + ns + "&consistent=true": {ns + "/b"},
		"ns=" + ns + "&q=registry.example/a:1":                      {ns + "/a"},
		"ns=" + ns + "&fieldSelector=spec.restartPolicy%3DAlways":   {ns + "/a", ns + "/b"},
	} {
		testkit.Eventually(t, "the cache has both", func() bool { return len(r.do(t, http.MethodGet, "/v1/pods?ns="+ns, admin, "").names(t)) == 2 })
		got := r.do(t, http.MethodGet, "/v1/pods?"+query, admin, "")
		if got.status != http.StatusOK {
			t.Errorf("%s: %d %s", query, got.status, got.body)
			continue
		}
		if diff := cmp.Diff(want, got.names(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if got := r.do(t, http.MethodPost, "/v1/pods?ns="+ns, admin, "{}"); got.status != http.StatusMethodNotAllowed {
		t.Errorf("creating a pod: %d", got.status)
	}
}

// TestEviction respects budgets, and the rights of the caller.
func TestEviction(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	r.pod(t, ns, "free", "somewhere")
	r.pod(t, ns, "kept", "somewhere")
	one := intstr.FromInt32(1)
	r.Create(t, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "kept"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}}},
	})
	reader := r.user(t, ns, rule("get,list,delete", "", "pods"))
	for _, step := range []struct {
		token, path string
		status      int
	}{
		{reader, "free", 403},
		{admin, "absent", 404},
		{admin, "free?dryRun=All", 201},
		{admin, "free", 201},
		{reader, "free", 403},
	} {
		name, query, _ := strings.Cut(step.path, "?")
		path := "/v1/pods/" + ns + "/" + name + "/eviction"
		if query != "" {
			path += "?" + query
		}
		if got := r.do(t, http.MethodPost, path, step.token, ""); got.status != step.status {
			t.Errorf("%s: status %d, want %d: %s", step.path, got.status, step.status, got.body)
		}
	}
	kept := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "kept"}}
	if !r.Get(t, kept) {
		t.Fatal("the pod is not there")
	}
	kept.Status.Phase = corev1.PodRunning // pending pods are evicted whatever a budget says
	kept.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	must(t, r.Live.Status().Update(t.Context(), kept))
	if got := r.do(t, http.MethodPost, "/v1/pods/"+ns+"/kept/eviction", admin, ""); got.status != http.StatusTooManyRequests {
		t.Errorf("a budget is not respected: %d %s", got.status, got.body)
	}
}

// TestLogs reads logs through the API server, with the rights of the caller, and ends them with these rights.
func TestLogs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	node, lines := ns+"-node", make(chan string)
	r.kubelet(t, node, kubelet{lines: lines})
	r.pod(t, ns, "web", node)
	home := r.Namespace(t)
	token := r.token(t, home, "user")
	right := r.grant(t, home, ns, rule("get", "", "pods/log"))
	path := "/v1/pods/" + ns + "/web/logs"
	testkit.Eventually(t, "the log can be read", func() bool { return r.do(t, http.MethodGet, path, token, "").status == http.StatusOK })
	got := r.do(t, http.MethodGet, path+"?tailLines=5&sinceSeconds=9&timestamps=true&previous=true", token, "")
	for _, want := range []string{"/containerLogs/" + ns + "/web/main?", "tailLines=5", "sinceSeconds=9", "timestamps=true", "previous=true"} {
		if !strings.Contains(string(got.body), want) {
			t.Errorf("the kubelet is not asked for %s: %s", want, got.body)
		}
	}
	other := r.user(t, ns, rule("get,list", "", "pods"))
	if got := r.do(t, http.MethodGet, path, other, ""); got.status != http.StatusForbidden {
		t.Errorf("without the right to read logs: %d %s", got.status, got.body)
	}
	if got := r.do(t, http.MethodGet, path+"?container=absent", token, ""); got.status != http.StatusBadRequest {
		t.Errorf("a container that does not exist: %d %s", got.status, got.body)
	}

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+path+"?follow=true", http.NoBody)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	seen := bufio.NewScanner(response.Body)
	for i := range 3 {
		if i > 0 {
			lines <- fmt.Sprintf("line %d", i)
		}
		if !seen.Scan() || i > 0 && seen.Text() != fmt.Sprintf("line %d", i) {
			t.Fatalf("line %d of a log that is followed is %q: %v", i, seen.Text(), seen.Err())
		}
	}
	must(t, r.Live.Delete(t.Context(), right))
	for seen.Scan() { // until it ends
		t.Errorf("without rights the log goes on: %q", seen.Text())
	}
}

// TestEventsNewestFirst pages through the events about an object, and reads those of a namespace.
func TestEventsNewestFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	// Without an address: the API server has events of its own about addresses that it has not seen yet.
	r.Create(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}})
	event := func(name, about string, minute int) {
		t.Helper()
		r.Create(t, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: ns, Name: name},
			InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: ns, Name: about},
			Reason:         "Tested", Type: corev1.EventTypeNormal, LastTimestamp: metav1.Date(2100, 1, 1, 0, minute, 0, 0, time.UTC),
		})
	}
	event("a-new", "web", 3)
	event("b-old", "web", 1)
	event("c-middle", "web", 2)
	event("d-other", "other", 9)
	testkit.Eventually(t, "the cache has all", func() bool { return len(r.do(t, http.MethodGet, "/v1/events?ns="+ns, admin, "").names(t)) == 4 })
	for path, want := range map[string][]string{
		"/v1/services/" + ns + "/web/events":                                    {ns + "/a-new", ns + "/c-middle", ns + "/b-old"},
		"/v1/services/" + ns + "/web/events?limit=1":                            {ns + "/a-new"},
		"/v1/events?sort=-created&limit=2&ns=" + ns:                             {ns + "/d-other", ns + "/a-new"},
		"/v1/events?ns=" + ns + "&fieldSelector=involvedObject.name%3Dother":    {ns + "/d-other"},
		"/v1/events?consistent=true&ns=" + ns + "&fieldSelector=type%3DWarning": {},
	} {
		if diff := cmp.Diff(want, r.do(t, http.MethodGet, path, admin, "").names(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	f := r.follow(t, admin, ns, "", "events")
	f.until("the snapshot", done)
	event("e-later", "web", 10)
	f.until("the event", func(e client.Event) bool { return describeEvent(e) == "upsert events e-later" })
}
