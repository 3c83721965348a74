// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
)

func TestCasesThatAreTheSameAsOthersAreLeftOut(t *testing.T) {
	t.Parallel()
	effects := []effect{
		{Verb: "patch", Object: "nodes/a", Step: 1},
		{Verb: "patch", Object: "nodepools/red/status", Step: 1},
		{Verb: "create", Object: "events.events.k8s.io/default/NodePool/red/Ready", Step: 1},
		{Verb: "delete", Object: "nodes/a", Step: 2},
		{Verb: "create", Object: "events.events.k8s.io/default/NodePool/red/Gone", Step: 3},
		{Verb: "patch", Object: "nodepools/blue/status", Step: 4},
		{Verb: "patch", Object: onHost(machine.DriverLibvirt, "objects", "web"), Step: 4},
		{Verb: "patch", Object: onHost(machine.DriverLibvirt, "objects", "app"), Step: 4},
	}
	got := map[string]string{}
	for i, e := range effects {
		for _, v := range variants() {
			if v.appliesTo(e) && v.sameAs(e, effects[:i]) == "" {
				got[e.Verb+" "+e.Object] += v.name + " "
			}
		}
	}
	want := map[string]string{
		"patch nodes/a":              "cut lost 409 429 500 late-504 delay kill-before kill-after lasting ",
		"patch nodepools/red/status": "cut lost 409 late-504 delay kill-after lasting ",
		"create events.events.k8s.io/default/NodePool/red/Ready": "lasting ",
		"delete nodes/a": "cut lost 409 late-504 delay kill-before kill-after lasting ",
		"create events.events.k8s.io/default/NodePool/red/Gone": "kill-before ",
		"patch nodepools/blue/status":                           "lost 409 kill-before kill-after lasting ",
		"patch host:libvirt/objects/web":                        "cut lost late-504 delay kill-after kill-late lasting ",
		"patch host:libvirt/objects/app":                        "cut lost late-504 delay kill-after kill-late lasting ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it plays (-want +got):\n%s", diff)
	}
}

// TestWhatBecomesOfAWriteIsNotPlayedOnEachHost: the manager meets the same answer of the API server with simulated machines, unless it is killed: then
// the next one has to find its machines on that host.
func TestWhatBecomesOfAWriteIsNotPlayedOnEachHost(t *testing.T) {
	t.Parallel()
	write := effect{Verb: "patch", Object: "virtualmachines.cloudnative.tw/default/web", Nth: 1}
	second := effect{Verb: write.Verb, Object: write.Object, Nth: 2}
	call := effect{Verb: "create-volume", Object: onHost(machine.DriverLibvirt, "volumes", "web"), Nth: 1}
	halting := scenario{halts: true, volatile: true}
	c := &campaign{rows: []*row{
		{scenario: &scenario{volatile: true}, Scenario: "virtualmachine/simulated-created", Effects: []effect{write}},
		{scenario: &halting, Scenario: "virtualmachine/simulated-paused", Effects: []effect{write}},
	}}
	left := func(scenario string, e effect) string {
		var names []string
		for _, v := range variants() {
			if v.appliesTo(e) && v.sameAsSimulated(e, c.simulated(&row{Scenario: scenario})) != "" {
				names = append(names, v.name)
			}
		}
		return strings.Join(names, " ")
	}
	const answers = "cut lost 409 429 500 504 late-504 delay lasting"
	for _, tc := range []struct {
		scenario string
		effect   effect
		want     string
	}{
		{"virtualmachine/libvirt-created", write, answers},
		{"virtualmachine/docker-created", write, answers},
		{"virtualmachine/simulated-created", write, ""},
		{"virtualmachine/libvirt-created", second, ""},
		{"virtualmachine/libvirt-created", call, ""},
		{"virtualmachine/libvirt-of-its-own", write, ""},
		{"nodepool/created", write, ""},
	} {
		if got := left(tc.scenario, tc.effect); got != tc.want {
			t.Errorf("%s leaves out %q at %s, want %q", tc.scenario, got, tc.effect, tc.want)
		}
	}
	disturbed := func(scenario string) string {
		var names []string
		for _, d := range disturbances() {
			if d.sameAsSimulated(c.simulated(&row{Scenario: scenario})) != "" {
				names = append(names, d.name)
			}
		}
		return strings.Join(names, " ")
	}
	for scenario, want := range map[string]string{
		"virtualmachine/libvirt-created":    "stale merged api-killed api-stopped etcd-killed etcd-stopped etcd-full",
		"virtualmachine/docker-paused":      "stale merged", // others may end the manager, and with it machines that are simulated and paused
		"virtualmachine/simulated-created":  "",
		"virtualmachine/libvirt-of-its-own": "",
	} {
		if got := disturbed(scenario); got != want {
			t.Errorf("%s leaves out the disturbances %q, want %q", scenario, got, want)
		}
	}
}

// TestObjectsThatAreAlikeArePlayedOnce: a manager that lives does not tell nodes of one pool apart, nor machines that are made together. One
// that is killed leaves another state behind after each of them.
func TestObjectsThatAreAlikeArePlayedOnce(t *testing.T) {
	t.Parallel()
	run := []effect{
		{Verb: "patch", Object: "nodes/a", Nth: 1, Step: 1},
		{Verb: "patch", Object: "nodes/b", Nth: 1, Step: 1},
		{Verb: "patch", Object: "nodes/c", Nth: 1, Step: 1},
		{Verb: "patch", Object: "nodes/c", Nth: 2, Step: 2}, // so more is done to it than to the others
		{Verb: "patch", Object: "virtualmachines.cloudnative.tw/default/web", Nth: 1, Step: 2},
		{Verb: "patch", Object: "virtualmachines.cloudnative.tw/default/web/status", Nth: 1, Step: 2},
		{Verb: "patch", Object: "virtualmachines.cloudnative.tw/default/app", Nth: 1, Step: 2},
		{Verb: "patch", Object: "virtualmachines.cloudnative.tw/default/app/status", Nth: 1, Step: 2},
		{Verb: "start", Object: onHost(machine.DriverDocker, "containers", "web"), Nth: 1, Step: 2},
		{Verb: "start", Object: onHost(machine.DriverDocker, "containers", "app"), Nth: 1, Step: 2},
	}
	var got []string
	for _, e := range run {
		for _, v := range variants() {
			if v.appliesTo(e) && v.sameAsPeer(e, run) != "" {
				got = append(got, e.Object+": "+v.name)
			}
		}
	}
	var want []string
	for _, object := range []string{"nodes/b", "virtualmachines.cloudnative.tw/default/app", "virtualmachines.cloudnative.tw/default/app/status"} {
		for v := range strings.FieldsSeq("cut lost 409 429 500 504 late-504 delay lasting") {
			want = append(want, object+": "+v)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it leaves out (-want +got):\n%s", diff)
	}
}

// TestWhatLibrariesDoIsPlayedOnceForEachKind: client-go sends a request again, and the recorder an event, whichever scenario it is.
func TestWhatLibrariesDoIsPlayedOnceForEachKind(t *testing.T) {
	t.Parallel()
	write := effect{Verb: "patch", Object: "nodes/a", Nth: 1, Step: 1}
	event := effect{Verb: "create", Object: "events.events.k8s.io/default/NodePool/red/Ready", Nth: 1, Step: 1}
	silent := &row{scenario: &scenario{name: "nodepool/silent"}, Scenario: "nodepool/silent", Effects: []effect{write}}
	telling := &row{scenario: &scenario{name: "nodepool/telling"}, Scenario: "nodepool/telling", Effects: []effect{event, write}}
	later := &row{scenario: &scenario{name: "nodepool/later"}, Scenario: "nodepool/later", Effects: []effect{write, event}}
	other := &row{scenario: &scenario{name: "podset/other"}, Scenario: "podset/other", Effects: []effect{write, event}}
	onHost := &row{scenario: &scenario{name: "virtualmachine/docker-created"}, Scenario: "virtualmachine/docker-created", Effects: []effect{write, event}}
	simulated := &row{scenario: &scenario{name: "virtualmachine/simulated-created"}, Scenario: "virtualmachine/simulated-created", Effects: []effect{write, event}}
	c := &campaign{rows: []*row{silent, telling, later, other, onHost, simulated}}
	got := map[string]string{}
	for _, r := range c.rows {
		for _, one := range c.casesOf(r) {
			if one.fault != nil && (one.fault.Variant.name == tooMany || one.fault.Variant.name == lasts && one.fault.Effect.isEvent()) {
				got[r.Scenario] += one.fault.Variant.name + " "
			}
		}
	}
	want := map[string]string{"nodepool/silent": "429 ", "nodepool/telling": "lasting ", "podset/other": "429 lasting ", "virtualmachine/simulated-created": "429 lasting "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it plays (-want +got):\n%s", diff)
	}
}

func TestWhatAScenarioRepeatsIsPlayedInAnother(t *testing.T) {
	t.Parallel()
	run := []effect{{Verb: "delete", Object: "nodes/a", Step: 2}, {Verb: "patch", Object: "nodes/a", Step: 3}, {Verb: "patch", Object: "nodes/b", Step: 3}}
	again := scenario{repeats: true}
	for i, want := range []bool{false, true, true} {
		if got := again.sameAsFirst(run[i], run) != ""; got != want {
			t.Errorf("%s in step %d is left out: %t, want %t", run[i], run[i].Step, got, want)
		}
	}
	if why := new(scenario).sameAsFirst(run[2], run); why != "" {
		t.Errorf("a scenario that repeats nothing leaves out %s: %s", run[2], why)
	}
}

// TestATimeoutWithoutEffectIsAnInternalError shows that the manager does the same after both: neither is tried again by its client, and neither is taken for
// an outage, for a conflict or for something that only a person can solve.
func TestATimeoutWithoutEffectIsAnInternalError(t *testing.T) {
	t.Parallel()
	after := map[int]string{}
	for _, code := range []int{http.StatusInternalServerError, http.StatusGatewayTimeout} {
		var requests atomic.Int32
		c := clientOfPods(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			(&write{w: w, r: r}).refuse(code)
		}))
		err := c.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}})
		outcome := flow.Refused("Refused", err)
		_, again := outcome.Result()
		after[code] = fmt.Sprintf("requests %d, outcome %s, stalled %v, tried again with backoff %v, unreachable %v, conflict %v, gone %v", requests.Load(), outcome.Reason(),
			outcome.IsStalled(), again != nil, kube.IsUnreachable(err), apierrors.IsConflict(err), apierrors.IsNotFound(err))
	}
	want := "requests 1, outcome Error, stalled false, tried again with backoff true, unreachable false, conflict false, gone false"
	for code, got := range after {
		if got != want {
			t.Errorf("after %d: %s, want %s", code, got, want)
		}
	}
}

// TestTooManyRequestsIsADelay shows that a client of the manager hears nothing of the answer 429: what it writes takes effect a second later.
func TestTooManyRequestsIsADelay(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default", ResourceVersion: "1"}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{}`))
	for verb, send := range map[string]func(ctx context.Context, c client.Client) error{
		"create": func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}})
		},
		"patch":        func(ctx context.Context, c client.Client) error { return c.Patch(ctx, pod.DeepCopy(), patch) },
		"patch status": func(ctx context.Context, c client.Client) error { return c.Status().Patch(ctx, pod.DeepCopy(), patch) },
		"delete":       func(ctx context.Context, c client.Client) error { return c.Delete(ctx, pod.DeepCopy()) },
		"evict": func(ctx context.Context, c client.Client) error {
			return c.SubResource("eviction").Create(ctx, pod.DeepCopy(), &policyv1.Eviction{})
		},
	} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			c := clientOfPods(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) == 1 {
					(&write{w: w, r: r}).refuse(http.StatusTooManyRequests)
					return
				}
				makeUp(w, http.StatusOK, map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]string{"name": "a"}})
			}))
			if err := send(t.Context(), c); err != nil || requests.Load() != 2 {
				t.Errorf("after %d requests the client says %v, want no error after 2", requests.Load(), err)
			}
		})
	}
}

// clientOfPods returns a client as the manager has it, of an API server that answers so.
func clientOfPods(t *testing.T, answers http.Handler) client.Client {
	t.Helper()
	server := httptest.NewServer(answers)
	t.Cleanup(server.Close)
	pods := apimeta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	pods.Add(corev1.SchemeGroupVersion.WithKind("Pod"), apimeta.RESTScopeNamespace)
	c, err := client.New(&rest.Config{Host: server.URL, QPS: -1}, client.Options{Scheme: kube.NewScheme(), Mapper: pods})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWhatMakesSomethingOnAHostIsNotLate(t *testing.T) {
	t.Parallel()
	late := variant{name: killLate, host: true}
	for verb, want := range map[string]bool{
		"create": false, "create-volume": false, "copy-volume": false, "define": false, "start": true, "delete-volume": true, "undefine": true,
	} {
		if got := late.appliesTo(effect{Verb: verb, Object: onHost(machine.DriverLibvirt, "objects", "web")}); got != want {
			t.Errorf("%s can be late: %t, want %t", verb, got, want)
		}
	}
}
