// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestTopMachines(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	busy := s.machine(t)
	idle := busy.DeepCopy()
	idle.ResourceVersion, idle.UID, idle.Name = "", "", "idle"
	s.Create(t, idle)
	now := time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)
	s.reread(t, busy)
	busy.Status.Phase = cloudnativev1alpha1.PhaseActive
	busy.Status.Server = &cloudnativev1alpha1.Server{Usage: &cloudnativev1alpha1.Usage{
		CPU: 92.4, CPUCores: 1.848, Memory: 50, MemoryBytes: 1 << 30, SampledAt: &metav1.Time{Time: now.Add(-90 * time.Second)},
	}}
	must(t, s.Live.Status().Update(t.Context(), busy))
	at := options{now: func() time.Time { return now }}
	args := []string{"--kubeconfig", s.kubeconfig, "-n", busy.Namespace, "top"}
	got := run(t, at, append(args, "machines")...)
	want := "NAME   PHASE    CPU    CPU%   MEMORY   MEMORY%   SAMPLED\n" +
		"web    Active   1.85   92%    1Gi      50%       90s ago\n" +
		"idle            -      -      -        -         -\n"
	if diff := cmp.Diff(result{out: want}, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Error(diff)
	}
	has(t, run(t, at, append(args, "vm", "-o", "json")...).out, `"cpuCores": 1.848`, `"name": "idle"`)
	has(t, run(t, at, append(args, "machines", "-o", "name")...).out, "virtualmachine.cloudnative.tw/web\nvirtualmachine.cloudnative.tw/idle\n")
	s.steps(t, []string{"-n", busy.Namespace},
		step{args: "top machines --watch -o name", code: exitMisused, err: "--watch is for people"},
		step{args: "top pods", code: exitMisused, err: "this command does not work on pods"},
		step{args: "top machines --watch -o json", code: exitMisused, err: "--watch is for people"},
		step{args: "top machines --interval 1ms", code: exitMisused, err: "at least 1s"},
	)
}

func TestTopPoolsAndNodes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t)
	s.Create(t, build.Pool(name).Obj())
	for i, node := range []string{name + "-a", name + "-b"} {
		made := build.Node(node).Label(nodesv1.MemberLabels(name)[i], "").Obj() // the spec changes which of both members have
		s.Create(t, made)
		s.reread(t, made)
		made.Status = build.Node("").Allocatable("cpu", "4", "memory", "8Gi", "pods", "10").Obj().Status
		must(t, s.Live.Status().Update(t.Context(), made))
	}
	for pod, phase := range map[string]corev1.PodPhase{"runs": corev1.PodRunning, "done": corev1.PodSucceeded} {
		made := build.Pod(pod).Namespace(name).Requests("cpu", "3800m").With(func(p *corev1.Pod) {
			p.Spec.NodeName, p.Spec.Containers[0].Name, p.Spec.Containers[0].Image = name+"-a", "app", "nginx"
		}).Obj()
		s.Create(t, made)
		s.reread(t, made)
		made.Status.Phase = phase
		must(t, s.Live.Status().Update(t.Context(), made))
	}
	line := func(text, name string) string {
		for each := range strings.Lines(text) {
			if fields := strings.Fields(each); len(fields) > 0 && fields[0] == name {
				return strings.Join(fields[1:], " ")
			}
		}
		return "nothing of " + name + " in " + text
	}
	for args, want := range map[string]map[string]string{
		"top pools": {name: "2 3800m of 8 48% 0 of 16Gi 0% 1 of 20 5%"},
		"top nodes": {name + "-a": "3800m of 4 95% 0 of 8Gi 0% 1 of 10 10%", name + "-b": "0 of 4 0% 0 of 8Gi 0% 0 of 10 0%"},
	} {
		got := s.run(t, strings.Fields(args)...)
		has(t, got.out, "\nNot seen: what nodes use: this cluster does not serve metrics.k8s.io.\n")
		for of, wanted := range want {
			if diff := cmp.Diff(wanted, line(got.out, of)); diff != "" {
				t.Errorf("%s: %s%s", args, diff, got.err)
			}
		}
	}
	has(t, s.run(t, "top", "nodes", "-o", "name").out, "node/"+name+"-a\n")
	s.Create(t, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"nodes"}},
		{Verbs: []string{"list"}, APIGroups: []string{nodesv1.SchemeGroupVersion.Group}, Resources: []string{"nodepools"}},
	}}, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "lister-of-" + name}},
	})
	s.awaitRight(t, "lister-of-"+name, authorizationv1.ResourceAttributes{Verb: "list", Resource: "nodes"})
	s.awaitRight(t, "lister-of-"+name, authorizationv1.ResourceAttributes{Verb: "list", Group: nodesv1.SchemeGroupVersion.Group, Resource: "nodepools"})
	limited := s.run(t, "--as", "lister-of-"+name, "top", "pools")
	if diff := cmp.Diff("2 - of 8 - - of 16Gi - - of 20 -", line(limited.out, name)); diff != "" {
		t.Error(diff, limited.err)
	}
	has(t, limited.out, "\nNot seen: what pods request: you may not list pods in all namespaces; what nodes use: you may not list nodes.metrics.k8s.io.\n")
}

// TestTopOfWhatIsUsed: where a metrics server answers, top says what nodes and pools really use; where it cannot, it says why.
func TestTopOfWhatIsUsed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t)
	node := build.Node(name + "-a").Member(name).Obj()
	s.Create(t, build.Pool(name).Obj(), node)
	s.reread(t, node)
	node.Status = build.Node("").Allocatable("cpu", "4", "memory", "8Gi", "pods", "10").Obj().Status
	must(t, s.Live.Status().Update(t.Context(), node))
	server, err := url.Parse(s.Config.Host)
	must(t, err)
	transport, err := rest.TransportFor(s.Config)
	must(t, err)
	for _, tt := range []struct {
		code         int
		answer, want string
	}{
		{http.StatusOK, `{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},"items":[{"kind":"NodeMetrics","apiVersion":"metrics.k8s.io/v1beta1",` +
			`"metadata":{"name":"` + name + `-a"},"usage":{"cpu":"3800000000n","memory":"1048576Ki"}}]}`, "3800m (95%)   1Gi (12%)"},
		{http.StatusOK, `{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},"items":[{"kind":"NodeMetrics","apiVersion":"metrics.k8s.io/v1beta1",` +
			`"metadata":{"name":"` + name + `-a"},"usage":{"cpu":"much"}}]}`, "Not seen: what nodes use: metrics.k8s.io has answered something else"},
		{http.StatusServiceUnavailable, "", "Not seen: what nodes use: the server of metrics.k8s.io does not answer."},
	} {
		proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) }}
		listens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/apis/metrics.k8s.io/") {
				proxy.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(tt.code)
			_, _ = w.Write([]byte(tt.answer))
		}))
		config := kubeconfigFor(t, &rest.Config{Host: listens.URL}, "")
		for _, what := range []string{"nodes", "pools"} {
			if got := run(t, options{}, "--kubeconfig", config, "top", what); got.code != exitFine || got.err != "" || !strings.Contains(got.out, tt.want) {
				t.Errorf("%d %s: want %q, got %+v", tt.code, what, tt.want, got)
			}
		}
		listens.Close()
	}
}
