// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/kube"
)

func TestCasesThatAreTheSameAsOthersAreLeftOut(t *testing.T) {
	t.Parallel()
	effects := []effect{
		{Verb: "patch", Object: "nodes/a", Step: 1},
		{Verb: "patch", Object: "nodepools/red/status", Step: 1},
		{Verb: "create", Object: "events.events.k8s.io/default/NodePool/red/Ready", Step: 1},
		{Verb: "delete", Object: "nodes/a", Step: 2},
	}
	got := map[string]string{}
	var before *effect
	for _, e := range effects {
		for _, v := range variants() {
			if v.appliesTo(e) && v.sameAs(e, before) == "" {
				got[e.Verb+" "+e.Object] += v.name + " "
			}
		}
		before = &e
	}
	want := map[string]string{
		"patch nodes/a":              "cut lost 409 429 500 504 late-504 delay kill-before kill-after lasting ",
		"patch nodepools/red/status": "cut lost 409 500 504 late-504 delay kill-after lasting ",
		"create events.events.k8s.io/default/NodePool/red/Ready": "kill-after lasting ",
		"delete nodes/a": "cut lost 409 500 504 late-504 delay kill-before kill-after lasting ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it plays (-want +got):\n%s", diff)
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
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) == 1 {
					(&write{w: w, r: r}).refuse(http.StatusTooManyRequests)
					return
				}
				makeUp(w, http.StatusOK, map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]string{"name": "a"}})
			}))
			t.Cleanup(server.Close)
			pods := apimeta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
			pods.Add(corev1.SchemeGroupVersion.WithKind("Pod"), apimeta.RESTScopeNamespace)
			c, err := client.New(&rest.Config{Host: server.URL, QPS: -1}, client.Options{Scheme: kube.NewScheme(), Mapper: pods})
			if err != nil {
				t.Fatal(err)
			}
			if err := send(t.Context(), c); err != nil || requests.Load() != 2 {
				t.Errorf("after %d requests the client says %v, want no error after 2", requests.Load(), err)
			}
		})
	}
}
