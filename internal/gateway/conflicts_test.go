// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
)

// TestAttackAButtonOverwritesWhatAnotherSet presses buttons on fields that somebody else has set. They are refused with the field and its
// owner, change nothing, and take the field over only when they are told to.
func TestAttackAButtonOverwritesWhatAnotherSet(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	by := client.FieldOwner("flux")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ns + "-held"}}
	for _, object := range []client.Object{
		&cloudnativev1alpha1.VirtualMachine{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "vm", Annotations: map[string]string{"windlass.io/paused": "2030-01-01T00:00:00Z"}},
			Spec:       cloudnativev1alpha1.VirtualMachineSpec{RunStrategy: cloudnativev1alpha1.RunAlways, Resource: corev1.ResourceList{}},
		},
		&appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "set"}, Spec: appsv1alpha1.PodSetSpec{Size: 1}}, node,
	} {
		if err := r.Live.Create(t.Context(), object, by); err != nil {
			t.Fatal(err)
		}
	}
	const merge, steps = "application/merge-patch+json", "application/json-patch+json"
	vm, set := "/v1/virtualmachines/"+ns+"/vm", "/v1/podsets/"+ns+"/set"
	held := map[string]struct {
		button

		field, value string
	}{
		"power":                 {button{method: http.MethodPost, path: vm + "/power", body: `{"state":"off"}`}, ".spec.runStrategy", `"Always"`},
		"pause":                 {button{method: http.MethodPost, path: vm + "/pause"}, ".metadata.annotations.windlass.io/paused", `"2030-01-01T00:00:00Z"`},
		"a merge patch":         {button{method: http.MethodPatch, path: vm, body: `{"spec":{"runStrategy":"Once"}}`, media: merge}, ".spec.runStrategy", `"Always"`},
		"a JSON patch":          {button{method: http.MethodPatch, path: vm, body: `[{"op":"replace","path":"/spec/runStrategy","value":"Once"}]`, media: steps}, ".spec.runStrategy", `"Always"`},
		"scale":                 {button{method: http.MethodPatch, path: set + "/scale", body: `{"replicas":3}`}, ".spec.size", `1`},
		"a merge patch of size": {button{method: http.MethodPatch, path: set, body: `{"spec":{"size":4}}`, media: merge}, ".spec.size", `1`},
	}
	const asked = "fieldManager=windlass-console-test&refuseConflicts=true"
	for name, b := range held {
		got := r.press(t, admin, b.button, asked)
		if got.status != http.StatusConflict {
			t.Errorf("%s: status %d: %s", name, got.status, got.body)
			continue
		}
		problem := got.problem(t)
		if len(problem.Errors) != 1 {
			t.Errorf("%s: %+v", name, problem)
			continue
		}
		wrong := problem.Errors[0]
		told := map[string]string{"field": wrong.Location, "manager": wrong.Parameters["manager"], "operation": wrong.Parameters["operation"], "value": wrong.Parameters["value"]}
		if diff := cmp.Diff(map[string]string{"field": b.field, "manager": "flux", "operation": "Update", "value": b.value}, told); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, name := range []string{"power", "scale"} {
		if got := r.press(t, admin, held[name].button, "fieldManager=windlass-console-test"); got.status != http.StatusOK {
			t.Errorf("%s cannot be taken over: status %d: %s", name, got.status, got.body)
		}
	}
	// What another button has set is nobody else's, what nobody has set is free, and what is removed is no conflict.
	for name, b := range map[string]button{
		"power again":        {method: http.MethodPost, path: vm + "/power", body: `{"state":"on"}`},
		"scale again":        {method: http.MethodPatch, path: set + "/scale", body: `{"replicas":2}`},
		"a new label":        {method: http.MethodPatch, path: vm, body: `{"metadata":{"labels":{"team":"a"}}}`, media: merge},
		"the end of a pause": {method: http.MethodPost, path: vm + "/resume"},
		"cordon":             {method: http.MethodPost, path: "/v1/nodes/" + node.Name + "/cordon"},
	} {
		if got := r.press(t, admin, b, "fieldManager=windlass-console-other&refuseConflicts=true"); got.status != http.StatusOK {
			t.Errorf("%s: status %d: %s", name, got.status, got.body)
		}
	}
	// Who cannot read the object learns nothing of it.
	blind := r.user(t, ns, rule("patch", "*", "*"))
	if got := r.press(t, blind, held["a merge patch"].button, asked); got.status != http.StatusForbidden {
		t.Errorf("a caller who cannot read: status %d: %s", got.status, got.body)
	}
}

// newMeddledRig has a gateway with an API server on which somebody else acts before a request arrives. After an error the connection breaks.
func newMeddledRig(t *testing.T, before func(*http.Request) error) *rig {
	t.Helper()
	return newRig(t, func(o *Options) {
		to, err := url.Parse(o.Config.Host)
		must(t, err)
		transport, err := rest.TransportFor(rest.AnonymousClientConfig(o.Config))
		must(t, err)
		proxy := &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: transport, FlushInterval: -1, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			if before(request) != nil {
				panic(http.ErrAbortHandler)
			}
			proxy.ServeHTTP(w, request)
		}))
		t.Cleanup(server.CloseClientConnections)
		t.Cleanup(server.Close)
		o.Config.Host, o.Config.TLSClientConfig = server.URL, rest.TLSClientConfig{}
	})
}

// TestAttackAButtonReachesTheSuccessor presses a button on an object that is replaced by another of its name between two looks at it. The successor
// was changed, with what somebody else had set, and in spite of the UID.
func TestAttackAButtonReachesTheSuccessor(t *testing.T) {
	t.Parallel()
	var r *rig
	var ns string
	var looks atomic.Int32
	set := func(size int32) *appsv1alpha1.PodSet {
		return &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "set"}, Spec: appsv1alpha1.PodSetSpec{Size: size}}
	}
	r = newMeddledRig(t, func(request *http.Request) error {
		if !strings.HasSuffix(request.URL.Path, "/podsets/set") {
			return nil
		}
		switch {
		case request.Method == http.MethodGet && looks.Add(1) == 1:
			return r.Live.Delete(request.Context(), set(1))
		case request.Method == http.MethodPatch && looks.CompareAndSwap(1, 2):
			return r.Live.Create(request.Context(), set(2), client.FieldOwner("flux"))
		}
		return nil
	})
	admin := r.user(t, "", everything())
	ns = r.Namespace(t)
	seen := set(1)
	must(t, r.Live.Create(t.Context(), seen, client.FieldOwner("flux")))
	for name, query := range map[string]string{"by its UID": "&uid=%s", "by its name": ""} {
		looks.Store(0)
		got := r.press(t, admin, button{
			method: http.MethodPatch, path: "/v1/podsets/" + ns + "/set", body: `{"spec":{"size":7}}`, media: "application/merge-patch+json",
		}, "fieldManager=windlass-console-test&refuseConflicts=true"+strings.Replace(query, "%s", string(seen.UID), 1))
		now := set(0)
		if !r.Get(t, now) || now.UID == seen.UID || now.Spec.Size != 2 {
			t.Errorf("%s: the successor is %+v", name, now)
		}
		if got.status != http.StatusConflict {
			t.Errorf("%s: status %d: %s", name, got.status, got.body)
		}
		seen = now
	}
}
