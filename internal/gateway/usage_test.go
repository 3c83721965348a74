// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// metricsServer serves metrics.k8s.io behind the API server, as an aggregated API server does. It answers with what metrics holds.
func (r *rig) metricsServer(t *testing.T, metrics *atomic.Value) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("Content-Type", mediaJSON)
		switch request.URL.Path {
		case "/apis/metrics.k8s.io/v1beta1":
			_, _ = w.Write([]byte(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"metrics.k8s.io/v1beta1",
				"resources":[{"name":"nodes","singularName":"","namespaced":false,"kind":"NodeMetrics","verbs":["get","list"]}]}`))
		case "/apis/metrics.k8s.io/v1beta1/nodes":
			answer, _ := metrics.Load().(string)
			_, _ = w.Write([]byte(answer))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	must(t, err)
	number, err := strconv.Atoi(port)
	must(t, err)
	ns := r.Namespace(t)
	r.Create(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "metrics"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: host},
	})
	registration := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1beta1.metrics.k8s.io"},
		"spec": map[string]any{
			"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": ns, "name": "metrics", "port": int64(number)},
		},
	}}
	r.Create(t, registration)
	t.Cleanup(func() { // so that the test can be repeated
		if err := r.Live.Delete(context.WithoutCancel(t.Context()), registration); err != nil {
			t.Error(err)
		}
	})
	testkit.Eventually(t, "the API server passes requests on", func() bool {
		r.g.usage.Take(t.Context())
		return r.g.usage.NodesAreMeasured()
	})
}

// nodeMetrics is what a metrics server says of nodes.
func nodeMetrics(at time.Time, milliCPU map[string]int) string {
	var items []string
	for name, cpu := range milliCPU {
		items = append(items, fmt.Sprintf(`{"metadata":{"name":%q},"timestamp":%q,"window":"20s","usage":{"cpu":"%dm","memory":"1048576Ki"}}`, name,
			at.UTC().Format(time.RFC3339), cpu))
	}
	return `{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[` + strings.Join(items, ",") + "]}"
}

func readsNodeMetrics() rbacv1.PolicyRule { return rule("get,list", "metrics.k8s.io", "nodes") }

// TestUsage reads what a node, a pool and a machine have used. It is the one test with a metrics server: the API server has one at a time.
func TestUsage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	r.Create(t, pool)
	for name, labels := range map[string]map[string]string{"a": {pool.MemberLabel(): "true"}, "b": {pool.MemberLabel(): "true"}, "c": nil} {
		r.Create(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ns + "-" + name, Labels: labels}})
	}
	vm := &cloudnativev1alpha1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "vm"}, Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{}},
	}
	r.Create(t, vm)
	now := time.Now().UTC().Truncate(time.Minute)
	vm.Status.Server = &cloudnativev1alpha1.Server{State: "running", Usage: &cloudnativev1alpha1.Usage{
		CPU: 25, Memory: 50, CPUCores: 0.5, MemoryBytes: 1 << 30, SampledAt: new(metav1.NewTime(now)),
	}}
	must(t, r.Live.Status().Update(t.Context(), vm))
	admin := r.user(t, "", everything())
	read := func(path string) view.Usage {
		return read[view.Usage](t, r.do(t, http.MethodGet, "/v1/usage/"+path, admin, ""))
	}
	point := func(at time.Time, cpu float64, objects int) view.Usage {
		p := view.UsagePoint{Time: at, CPUCores: cpu, MemoryBytes: int64(objects) << 30, Objects: objects}
		return view.Usage{Measured: true, IntervalSeconds: 60, Current: &p, Series: []view.UsagePoint{p}}
	}
	testkit.Eventually(t, "the machine has a point", func() bool {
		r.g.usage.Take(t.Context())
		return r.do(t, http.MethodGet, "/v1/usage/nodepools/"+ns, admin, "").status == http.StatusOK &&
			len(read("virtualmachines/"+ns+"/vm").Series) > 0 && len(r.do(t, http.MethodGet, "/v1/nodes?q="+ns, admin, "").names(t)) == 3
	})
	if diff := cmp.Diff(point(now, 0.5, 1), read("virtualmachines/"+ns+"/vm")); diff != "" {
		t.Errorf("the machine (-want +got):\n%s", diff)
	}
	nothing := view.Usage{IntervalSeconds: 60, Series: []view.UsagePoint{}}
	for _, path := range []string{"nodes/" + ns + "-a", "nodepools/" + ns} {
		if diff := cmp.Diff(nothing, read(path)); diff != "" {
			t.Errorf("%s without a metrics server (-want +got):\n%s", path, diff)
		}
	}

	var metrics atomic.Value
	measured := now.Add(-5 * time.Minute) // a figure of the last ones would be of the minute in which it is read
	metrics.Store(nodeMetrics(measured, map[string]int{ns + "-a": 250, ns + "-b": 1500, ns + "-c": 4000, ns + "-unknown": 9000}))
	r.metricsServer(t, &metrics)
	for path, want := range map[string]view.Usage{"nodes/" + ns + "-a": point(measured, 0.25, 1), "nodepools/" + ns: point(measured, 1.75, 2)} {
		if diff := cmp.Diff(want, read(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for _, broken := range []string{"", "no JSON", `{"items":[{"usage":{"cpu":"much"}}]}`} {
		metrics.Store(broken)
		r.g.usage.Take(t.Context())
		if got := read("nodes/" + ns + "-a"); got.Measured || len(got.Series) != 1 {
			t.Errorf("with metrics %q: %+v", broken, got)
		}
	}
}

// TestAttackUsageOfOthers asks for the usage of what the caller may not read.
func TestAttackUsageOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	mine, theirs := r.Namespace(t), r.Namespace(t)
	machines, pools, nodes := rule("get", "cloudnative.tw", "virtualmachines"), rule("get", "nodes.lailin.xyz", "nodepools"), rule("*", "", "nodes")
	for name, c := range map[string]struct {
		token, path string
		want        int
	}{
		"nobody": {"", "nodes/a", 401},
		"a reader of machines in their namespace":      {r.user(t, mine, machines), "virtualmachines/" + mine + "/absent", 404},
		"a reader of machines in another namespace":    {r.user(t, mine, machines), "virtualmachines/" + theirs + "/absent", 403},
		"somebody who lists machines":                  {r.user(t, mine, rule("list", "cloudnative.tw", "virtualmachines")), "virtualmachines/" + mine + "/absent", 403},
		"somebody who reads nodes, not what they use":  {r.user(t, "", nodes), "nodes/absent", 403},
		"a reader of metrics":                          {r.user(t, "", readsNodeMetrics()), "nodes/absent", 404},
		"somebody who reads pools, not what nodes use": {r.user(t, "", pools, nodes), "nodepools/absent", 403},
		"a reader of metrics, not of pools":            {r.user(t, "", readsNodeMetrics()), "nodepools/absent", 403},
		"a reader of both":                             {r.user(t, "", pools, readsNodeMetrics()), "nodepools/absent", 404},
		"a kind without usage":                         {r.user(t, "", everything()), "pods/" + mine + "/absent", 404},
	} {
		if got := r.do(t, http.MethodGet, "/v1/usage/"+c.path, c.token, ""); got.status != c.want {
			t.Errorf("%s: status %d, want %d: %s", name, got.status, c.want, got.body)
		}
	}
}

// TestUsageOfAMachineThatTheCacheLacks asks for a machine that the API server has, and the cache does not have yet.
func TestUsageOfAMachineThatTheCacheLacks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns, k := r.Namespace(t), r.kind(t, view.MachinesPlural)
	r.Create(t, &cloudnativev1alpha1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "vm"}, Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: corev1.ResourceList{}},
	})
	testkit.Eventually(t, "the cache has the machine", func() bool {
		_, exists := k.Store.Get(ns, "vm")
		return exists
	})
	must(t, k.Store.Delete(object(k.GVK.Kind, ns, "vm", 1)))
	token := r.user(t, ns, rule("get", "cloudnative.tw", "virtualmachines"))
	want := view.Usage{Measured: true, IntervalSeconds: 60, Series: []view.UsagePoint{}}
	if diff := cmp.Diff(want, read[view.Usage](t, r.do(t, http.MethodGet, "/v1/usage/virtualmachines/"+ns+"/vm", token, ""))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
