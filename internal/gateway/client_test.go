// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/gateway/client"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// typed returns the typed client of a new caller with the rules.
func (r *rig) typed(t *testing.T, namespace string, rules ...rbacv1.PolicyRule) *client.Client {
	t.Helper()
	return &client.Client{Base: r.base, Token: r.user(t, namespace, rules...)}
}

// wantProblem holds that the error is a problem of that status and reason.
func wantProblem(t *testing.T, err error, status int, reason string) view.Problem {
	t.Helper()
	problem, ok := errors.AsType[*view.Problem](err)
	if !ok || problem.Status != status || problem.Type != view.ProblemType+reason {
		t.Fatalf("the error is %#v, want a problem %d %s", err, status, reason)
	}
	return *problem
}

func webService(name string) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": name}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(80)}}},
	}
}

// TestClientReads goes through everything that reads.
func TestClientReads(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.typed(t, "", everything())
	ns := r.Namespace(t)
	services := client.Kind[corev1.Service]{Plural: "services"}
	for _, name := range []string{"a", "b", "c"} {
		created, err := services.Create(t.Context(), c, ns, webService(name), client.WriteOptions{})
		must(t, err)
		if created.UID == "" || created.Namespace != ns || len(created.ManagedFields) > 0 {
			t.Errorf("created is %+v", created.ObjectMeta)
		}
	}
	me, err := c.Me(t.Context())
	must(t, err)
	if !me.AllNamespaces || !strings.HasPrefix(me.User, "system:serviceaccount:") || len(me.Groups) == 0 || me.Session {
		t.Errorf("the caller is %+v", me)
	}
	list := func(options client.ListOptions) (names []string, next string) {
		t.Helper()
		options.Namespace = ns
		page, err := services.List(t.Context(), c, options)
		must(t, err)
		for _, item := range page.Items {
			names = append(names, item.Name)
			if (len(item.ManagedFields) > 0) != options.ManagedFields {
				t.Errorf("with managedFields %t %s has %d of them", options.ManagedFields, item.Name, len(item.ManagedFields))
			}
		}
		return names, page.Continue
	}
	for what, test := range map[string]struct {
		options client.ListOptions
		want    []string
	}{
		"everything":         {client.ListOptions{}, []string{"a", "b", "c"}},
		"some labels":        {client.ListOptions{LabelSelector: "tier in (a,c)"}, []string{"a", "c"}},
		"a field":            {client.ListOptions{FieldSelector: "metadata.name=b"}, []string{"b"}},
		"words":              {client.ListOptions{Search: "tier=c"}, []string{"c"}},
		"with managedFields": {client.ListOptions{ManagedFields: true, Sort: view.SortName}, []string{"a", "b", "c"}},
	} {
		if names, _ := list(test.options); !slices.Equal(names, test.want) {
			t.Errorf("%s: %v, want %v", what, names, test.want)
		}
	}
	first, next := list(client.ListOptions{Limit: 2})
	second, end := list(client.ListOptions{Limit: 2, Continue: next})
	if diff := cmp.Diff([]string{"a", "b", "c"}, append(first, second...)); diff != "" || end != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	got, err := services.Get(t.Context(), c, ns, "a")
	must(t, err)
	text, err := services.YAML(t.Context(), c, ns, "a")
	must(t, err)
	if got.Spec.Ports[0].Port != 80 || !strings.Contains(string(text), "uid: "+string(got.UID)) {
		t.Errorf("the object is %+v, and as YAML %s", got, text)
	}
	r.clientEvents(t, c, services, got)
}

// clientEvents reads an event about the object.
func (r *rig) clientEvents(t *testing.T, c *client.Client, services client.Kind[corev1.Service], about *corev1.Service) {
	t.Helper()
	r.Create(t, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: about.Namespace, Name: "a.1"}, Reason: "Tested", Type: corev1.EventTypeNormal,
		InvolvedObject: corev1.ObjectReference{Kind: "Service", Namespace: about.Namespace, Name: about.Name, UID: about.UID},
	})
	testkit.Eventually(t, "the cache has the event", func() bool {
		events, err := services.Events(t.Context(), c, about.Namespace, about.Name)
		must(t, err)
		// The API server itself may have told of the address of the Service.
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Reason == "Tested" })
	})
	// An object without a namespace has its path without one.
	nodes := client.Kind[corev1.Node]{Plural: "nodes"}
	r.ensure(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "read-by-client"}})
	node, err := nodes.Get(t.Context(), c, "", "read-by-client")
	must(t, err)
	if of, err := nodes.Events(t.Context(), c, "", node.Name); err != nil || len(of.Items) > 0 {
		t.Errorf("the events of a node nobody knows are %v, %v", of, err)
	}
}

// TestClientWrites goes through everything that writes.
func TestClientWrites(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.typed(t, "", everything())
	ns := r.Namespace(t)
	services := client.Kind[corev1.Service]{Plural: "services"}
	_, err := services.Create(t.Context(), c, ns, webService("dry"), client.WriteOptions{DryRun: true})
	must(t, err)
	_, err = services.Get(t.Context(), c, ns, "dry")
	wantProblem(t, err, http.StatusNotFound, "NotFound")

	applied, err := services.Apply(t.Context(), c, ns, "web", webService("web"), client.WriteOptions{FieldManager: "windlass-console-first"})
	must(t, err)
	other := webService("web")
	other.Labels["tier"] = "other"
	_, err = services.Apply(t.Context(), c, ns, "web", other, client.WriteOptions{FieldManager: "windlass-console-second"})
	conflict := wantProblem(t, err, http.StatusConflict, "Conflict")
	if len(conflict.Errors) != 1 || !strings.Contains(conflict.Errors[0].Message, "first") || len(conflict.Kubernetes) == 0 {
		t.Errorf("the conflict is %+v", conflict)
	}
	forced, err := services.Apply(t.Context(), c, ns, "web", other, client.WriteOptions{FieldManager: "windlass-console-second", Force: true})
	must(t, err)
	if forced.Labels["tier"] != "other" || forced.UID != applied.UID {
		t.Errorf("taken over it is %+v", forced.ObjectMeta)
	}
	must(t, services.Delete(t.Context(), c, ns, "web", client.DeleteOptions{DryRun: true}))
	err = services.Delete(t.Context(), c, ns, "web", client.DeleteOptions{UID: "another"})
	wantProblem(t, err, http.StatusConflict, "Replaced")
	must(t, services.Delete(t.Context(), c, ns, "web", client.DeleteOptions{UID: string(forced.UID)}))
	_, err = services.Get(t.Context(), c, ns, "web")
	wantProblem(t, err, http.StatusNotFound, "NotFound")
	_, err = services.Create(t.Context(), c, ns, webService("owner"), client.WriteOptions{})
	must(t, err)
	must(t, services.Delete(t.Context(), c, ns, "owner", client.DeleteOptions{Propagation: metav1.DeletePropagationForeground}))
	waiting, err := services.Get(t.Context(), c, ns, "owner") // for a collector, which there is none of here
	must(t, err)
	if !slices.Contains(waiting.Finalizers, metav1.FinalizerDeleteDependents) {
		t.Errorf("what is deleted after what it owns is %+v", waiting.ObjectMeta)
	}

	// What belongs to no namespace.
	pools := client.Kind[nodesv1.NodePool]{Plural: "nodepools"}
	pool := &nodesv1.NodePool{TypeMeta: metav1.TypeMeta{APIVersion: nodesv1.SchemeGroupVersion.String(), Kind: "NodePool"}}
	pool.Name = ns
	_, err = pools.Create(t.Context(), c, "", pool, client.WriteOptions{})
	must(t, err)
	must(t, pools.Delete(t.Context(), c, "", ns, client.DeleteOptions{}))
}

// TestClientApps goes through apps, and scales one.
func TestClientApps(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.typed(t, "", everything())
	ns := r.Namespace(t)
	app := view.App{Name: "web", Namespace: ns, Image: "web:1", Replicas: new(int32(3)), Port: 8080}
	if dry, err := c.CreateApp(t.Context(), app, client.WriteOptions{DryRun: true}); err != nil || dry.Replicas != 3 {
		t.Errorf("a rehearsal is %+v, %v", dry, err)
	}
	_, err := c.App(t.Context(), ns, "web")
	wantProblem(t, err, http.StatusNotFound, "NotFound")
	created, err := c.CreateApp(t.Context(), app, client.WriteOptions{})
	must(t, err)
	deployments := client.Kind[appsv1.Deployment]{Plural: "deployments"}
	must(t, deployments.Scale(t.Context(), c, ns, "web", 7, client.WriteOptions{DryRun: true}))
	if read, err := c.App(t.Context(), ns, "web"); err != nil || !cmp.Equal(created, read) {
		t.Errorf("it is read as %+v, %v; created was %+v", read, err, created)
	}
	must(t, deployments.Scale(t.Context(), c, ns, "web", 5, client.WriteOptions{}))
	all, err := c.Apps(t.Context(), ns)
	must(t, err)
	if len(all) != 1 || all[0].Replicas != 5 || len(all[0].Service) == 0 {
		t.Errorf("the apps are %+v", all)
	}
	_, err = c.CreateApp(t.Context(), view.App{Name: "Not A Name", Namespace: ns, Image: "web:1"}, client.WriteOptions{})
	if problem := wantProblem(t, err, http.StatusUnprocessableEntity, "Invalid"); len(problem.Errors) == 0 || problem.Instance == "" {
		t.Errorf("the problem is %+v", problem)
	}
	for _, want := range []string{view.PartDeleted, view.PartGone} {
		gone, err := c.DeleteApp(t.Context(), ns, "web")
		must(t, err)
		if gone.Deployment != want || gone.Service != want {
			t.Errorf("deleted is %+v, want %s", gone, want)
		}
	}
}

// TestClientRefusals are the problems that do not come from an object.
func TestClientRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	nobody := r.typed(t, "default")
	nodes := client.Kind[corev1.Node]{Plural: "nodes"}
	_, err := nodes.List(t.Context(), nobody, client.ListOptions{})
	if problem := wantProblem(t, err, http.StatusForbidden, "Forbidden"); !strings.Contains(problem.Error(), "cannot list resource") {
		t.Errorf("the refusal is %+v", problem)
	}
	_, err = nodes.Get(t.Context(), &client.Client{Base: r.base}, "", "a")
	wantProblem(t, err, http.StatusUnauthorized, "Unauthorized")
	_, err = nodes.Get(t.Context(), &client.Client{Base: r.base, Token: "invented"}, "", "a")
	wantProblem(t, err, http.StatusUnauthorized, "Unauthorized")
	for _, err := range nobody.Watch(t.Context(), "", "", "secrets") {
		wantProblem(t, err, http.StatusUnprocessableEntity, "Invalid")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := nodes.List(cancelled, nobody, client.ListOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended the error is %v", err)
	}
}

// TestClientWatchGoesOn cuts a stream again and again: who comes back with the last id sees every change, once and in order.
func TestClientWatchGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	c := r.typed(t, ns, rule("get,list,watch", "", "services"))
	var last string
	for event, err := range c.Watch(t.Context(), ns, "", "services") {
		must(t, err)
		if last = event.ID; event.Done {
			break
		}
	}
	if last == "" {
		t.Fatal("the end of a snapshot has no id to go on from")
	}
	want := map[types.UID]string{}
	var names []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		names = append(names, name)
		want[r.service(t, ns, name).UID] = name
	}
	var seen []string
	for len(seen) < len(names) { // one connection for each event
		for event, err := range c.Watch(t.Context(), ns, last, "services") {
			must(t, err)
			if event.Name != client.EventUpsert {
				t.Fatalf("a stream that goes on brings %s: %+v", event.Name, event)
			}
			seen, last = append(seen, describeEvent(event)), event.ID
			break
		}
	}
	for i, name := range names {
		if seen[i] != "upsert services "+name {
			t.Errorf("change %d is %q, want that of %s", i, seen[i], name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var end error
	for _, err := range c.Watch(ctx, ns, "", "services") {
		cancel() // in the middle of it
		end = err
	}
	if !errors.Is(end, context.Canceled) {
		t.Errorf("a stream whose context ends, ends with %v", end)
	}
}
