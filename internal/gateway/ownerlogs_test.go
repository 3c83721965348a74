// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// logLine is a line as a container runtime stamps it.
func logLine(second int, text string) string {
	return time.Date(2100, 1, 1, 0, 0, second, 7, time.UTC).Format(time.RFC3339Nano) + " " + text + "\n"
}

// deployed creates a Deployment of two containers.
func (r *rig) deployed(t *testing.T, ns, name string) *appsv1.Deployment {
	t.Helper()
	app := map[string]string{"app": name}
	out := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "a"}}},
			},
		},
	}
	r.Create(t, out)
	return out
}

// replica creates a running pod with the containers main and side, which an object controls.
func (r *rig) replica(t *testing.T, ns, name, app, kind, owner string, uid types.UID) {
	t.Helper()
	pod := r.pod(t, ns, name, ns+"-node", func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": app, "pod-template-hash": "abc"}
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "side", Image: "b"})
		if kind != "" {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: owner, UID: uid, Controller: new(true)}}
		}
	})
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "main", ContainerID: "test://" + name, State: running}, {Name: "side", ContainerID: "test://side-" + name, State: running},
	}
	must(t, r.Live.Status().Update(t.Context(), pod))
}

// TestOwnerLogs reads the logs of all pods of an object as one.
func TestOwnerLogs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	r.kubelet(t, ns+"-node", kubelet{history: map[string]string{
		"web-abc-1/main": logLine(1, "one") + logLine(4, "four"), "web-abc-1/side": logLine(3, "three"),
		"web-abc-2/main": logLine(2, "two") + logLine(5, `fi"ve`), "set-0/main": logLine(6, "of the set"), "stray/main": logLine(0, "stray"),
	}})
	r.deployed(t, ns, "web")
	r.Create(t, &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}})
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "set"}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "set"}}
	set.Spec.Template.Labels, set.Spec.Template.Spec.Containers = set.Spec.Selector.MatchLabels, []corev1.Container{{Name: "main", Image: "a"}}
	r.Create(t, set)
	r.replica(t, ns, "web-abc-1", "web", "ReplicaSet", "web-abc", "1")
	r.replica(t, ns, "web-abc-2", "web", "ReplicaSet", "web-abc", "1")
	r.replica(t, ns, "stray", "web", "", "", "")
	r.replica(t, ns, "foreign", "web", "ReplicaSet", "other-abc", "2")
	r.replica(t, ns, "set-0", "set", "StatefulSet", "set", set.UID)
	apps := rule("get", "apps", "deployments", "statefulsets")
	podSets := rule("get", "apps.jicki.cn", "podsets")
	lister := r.user(t, ns, rule("get,list", "", "pods"), apps, podSets)
	token := r.user(t, ns, rule("get", "", "pods/log"), rule("list", "", "pods"), apps, podSets)
	blind := r.user(t, ns, rule("get", "", "pods/log"), apps)
	all := "[pod/web-abc-1/main] one\n[pod/web-abc-2/main] two\n[pod/web-abc-1/side] three\n[pod/web-abc-1/main] four\n[pod/web-abc-2/main] fi\"ve\n"
	testkit.Eventually(t, "the cache has the pods", func() bool {
		return string(r.do(t, http.MethodGet, "/v1/deployments/"+ns+"/web/logs", token, "").body) == all &&
			len(r.do(t, http.MethodGet, "/v1/statefulsets/"+ns+"/set/logs", token, "").body) > 0
	})
	for name, c := range map[string]struct {
		path, token string
		status      int
		want        string
	}{
		"of a Deployment":            {"deployments/{ns}/web/logs", token, 200, all},
		"of a PodSet":                {"podsets/{ns}/web/logs?tailLines=9&sinceSeconds=9", token, 200, all},
		"of a StatefulSet, stamped":  {"statefulsets/{ns}/set/logs?timestamps=true&container=main", token, 200, "[pod/set-0/main] " + logLine(6, "of the set")},
		"of one container, as JSON":  {"deployments/{ns}/web/logs?container=side&format=json", token, 200, `{"pod":"web-abc-1","container":"side","time":"2100-01-01T00:00:03.000000007Z","line":"three"}` + "\n"},
		"before a restart":           {"deployments/{ns}/web/logs?previous=true", token, 200, ""},
		"of no container":            {"deployments/{ns}/web/logs?container=absent", token, 422, ""},
		"in no format":               {"deployments/{ns}/web/logs?format=xml", token, 422, ""},
		"of nothing":                 {"deployments/{ns}/absent/logs", token, 404, ""},
		"without the right to logs":  {"deployments/{ns}/web/logs", lister, 403, ""},
		"without the right to pods":  {"deployments/{ns}/web/logs", blind, 403, ""},
		"of a name that leads away":  {"deployments/{ns}/..%2f..%2fweb/logs", token, 404, ""},
		"of a kind that owns no pod": {"services/{ns}/web/logs", token, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.do(t, http.MethodGet, "/v1/"+strings.ReplaceAll(c.path, "{ns}", ns), c.token, "")
			if got.status != c.status {
				t.Fatalf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			if diff := cmp.Diff(c.want, string(got.body)); c.status == http.StatusOK && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOwnerLogsFollow has a pod that joins, and ends with the right to the logs.
func TestOwnerLogsFollow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns, home := r.Namespace(t), r.Namespace(t)
	r.deployed(t, ns, "web")
	lines := make(chan string)
	r.kubelet(t, ns+"-node", kubelet{lines: lines, history: map[string]string{"web-abc-1/main": logLine(1, "one"), "web-abc-2/side": logLine(2, "two")}})
	r.replica(t, ns, "web-abc-1", "web", "ReplicaSet", "web-abc", "1")
	token := r.token(t, home, "user")
	r.grant(t, home, ns, rule("list", "", "pods"), rule("get", "apps", "deployments"))
	right := r.grant(t, home, ns, rule("get", "", "pods/log"))
	testkit.Eventually(t, "the cache has the pod", func() bool {
		return len(r.do(t, http.MethodGet, "/v1/deployments/"+ns+"/web/logs", token, "").body) > 0
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+"/v1/deployments/"+ns+"/web/logs?follow=true", http.NoBody)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	seen := bufio.NewScanner(response.Body)
	expect := func(want ...string) {
		t.Helper()
		left := map[string]bool{}
		for _, line := range want {
			left[line] = true
		}
		for len(left) > 0 {
			if !seen.Scan() || !left[seen.Text()] {
				t.Fatalf("the line is %q, want one of %v: %v", seen.Text(), left, seen.Err())
			}
			delete(left, seen.Text())
		}
	}
	expect("[pod/web-abc-1/main] one")
	r.replica(t, ns, "web-abc-2", "web", "ReplicaSet", "web-abc", "1")
	expect("[notice] web-abc-2/main has joined", "[notice] web-abc-2/side has joined", "[pod/web-abc-2/side] two")
	for i := range 4 { // which one of the four containers logs
		lines <- strings.TrimSpace(logLine(i, fmt.Sprint("later ", i)))
		if !seen.Scan() || !strings.HasSuffix(seen.Text(), fmt.Sprint("] later ", i)) {
			t.Fatalf("line %d is %q: %v", i, seen.Text(), seen.Err())
		}
	}
	must(t, r.Live.Delete(t.Context(), right))
	for seen.Scan() { // until it ends
		t.Errorf("without the right it goes on: %q", seen.Text())
	}
}

// TestAttackLogsOfManyContainers follows the logs of more containers than count as one stream. They were one, with up to a hundred connections.
func TestAttackLogsOfManyContainers(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.StreamsPerCaller = 3 })
	ns := r.Namespace(t)
	r.kubelet(t, ns+"-node", kubelet{lines: make(chan string)})
	r.deployed(t, ns, "web")
	r.deployed(t, ns, "small")
	for i := range 6 { // of two containers each
		r.replica(t, ns, fmt.Sprint("web-abc-", i), "web", "ReplicaSet", "web-abc", "1")
	}
	token := r.user(t, ns, rule("get", "", "pods/log"), rule("list", "", "pods"), rule("get", "apps", "deployments"))
	path := "/v1/deployments/" + ns + "/web/logs?follow=true"
	testkit.Eventually(t, "the cache has the pods", func() bool {
		items, _, _ := r.kind(t, "pods").Store.List()
		n := 0
		for _, item := range items {
			if item.Namespace == ns {
				n++
			}
		}
		return n == 6
	})
	r.followText(t, path, token)
	if status, _ := r.eventSource(t, path, "Authorization", "Bearer "+token); status != http.StatusTooManyRequests {
		t.Errorf("twelve more logs: status %d", status)
	}
	r.followText(t, "/v1/deployments/"+ns+"/small/logs?follow=true", token)
}

// TestAContainerThatJoinsLacksItsFirstLines: the reader asked for the end of each log, and that was asked of a container that began later, too. The lines that
// it had written until its log was opened were left out, and those of one that crashes at once are all.
func TestAContainerThatJoinsLacksItsFirstLines(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	r.deployed(t, ns, "web")
	r.kubelet(t, ns+"-node", kubelet{lines: make(chan string), history: map[string]string{"web-abc-1/main": logLine(1, "one"), "web-abc-2/main": logLine(2, "two")}})
	r.replica(t, ns, "web-abc-1", "web", "ReplicaSet", "web-abc", "1")
	token := r.user(t, ns, rule("list", "", "pods"), rule("get", "apps", "deployments"), rule("get", "", "pods/log"))
	testkit.Eventually(t, "the cache has the pod", func() bool {
		return len(r.do(t, http.MethodGet, "/v1/deployments/"+ns+"/web/logs", token, "").body) > 0
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/v1/deployments/"+ns+"/web/logs?follow=true&tailLines=0", http.NoBody)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	r.replica(t, ns, "web-abc-2", "web", "ReplicaSet", "web-abc", "1")
	for seen := bufio.NewScanner(response.Body); seen.Scan(); {
		switch line := seen.Text(); {
		case strings.HasPrefix(line, "[notice]"):
		case line == "[pod/web-abc-2/main] two":
			return
		default:
			t.Errorf("the reader did not ask for this line: %s", line)
		}
	}
	t.Error("the line is missing")
}

// TestOwnerLogsEndWithEachRight takes away one of the rights that they need at a time. They used to end with that to logs only.
func TestOwnerLogsEndWithEachRight(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	r.deployed(t, ns, "web")
	r.kubelet(t, ns+"-node", kubelet{lines: make(chan string), history: map[string]string{"web-abc-1/main": logLine(1, "one")}})
	r.replica(t, ns, "web-abc-1", "web", "ReplicaSet", "web-abc", "1")
	rules := []rbacv1.PolicyRule{rule("list", "", "pods"), rule("get", "apps", "deployments"), rule("get", "", "pods/log")}
	for i, taken := range rules {
		home := r.Namespace(t)
		token := r.token(t, home, "user")
		var granted []client.Object
		for _, one := range rules {
			granted = append(granted, r.grant(t, home, ns, one))
		}
		testkit.Eventually(t, "the cache has the pod", func() bool {
			return len(r.do(t, http.MethodGet, "/v1/deployments/"+ns+"/web/logs", token, "").body) > 0
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // or it would go on for ever
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/v1/deployments/"+ns+"/web/logs?follow=true", http.NoBody)
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		seen := bufio.NewScanner(response.Body)
		if !seen.Scan() || seen.Text() != "[pod/web-abc-1/main] one" {
			t.Fatalf("the line is %q: %v", seen.Text(), seen.Err())
		}
		must(t, r.Live.Delete(t.Context(), granted[i]))
		for seen.Scan() { // until it ends
			t.Errorf("without %s %s it goes on: %q", taken.Verbs, taken.Resources, seen.Text())
		}
		if !errors.Is(seen.Err(), io.ErrUnexpectedEOF) { // the logs go on
			t.Errorf("without %s %s it ends with %v", taken.Verbs, taken.Resources, seen.Err())
		}
		cancel()
		_ = response.Body.Close()
	}
}
