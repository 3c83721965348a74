// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/client"
)

// follower reads a stream.
type follower struct {
	t      *testing.T
	events chan client.Event
	cancel context.CancelFunc
	// last is the id of the last event.
	last string
}

func (r *rig) follow(t *testing.T, token, namespace, lastID string, kinds ...string) *follower {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &follower{t: t, events: make(chan client.Event, 1024), cancel: cancel}
	t.Cleanup(cancel)
	go func() {
		defer close(f.events)
		for event, err := range (&client.Client{Base: r.base, Token: token}).Watch(ctx, namespace, lastID, kinds...) {
			if err != nil {
				return
			}
			if event.Name != client.EventStale && event.Name != client.EventFresh { // which TestStreamsOfAFrozenAPIServer is about
				f.events <- event
			}
		}
	}()
	return f
}

// until returns the texts of all events up to the one that holds, in which the test has a deadline.
func (f *follower) until(what string, holds func(client.Event) bool) []string {
	f.t.Helper()
	deadline := time.After(30 * time.Second)
	var seen []string
	for {
		select {
		case event, open := <-f.events:
			if !open {
				f.t.Fatalf("the stream ended before %s; seen: %q", what, seen)
			}
			if event.ID != "" {
				f.last = event.ID
			}
			seen = append(seen, describeEvent(event))
			if holds(event) {
				return seen
			}
		case <-deadline:
			f.t.Fatalf("gave up waiting for %s; seen: %q", what, seen)
		}
	}
}

func describeEvent(event client.Event) string {
	name := func(raw json.RawMessage) string {
		var object metav1.PartialObjectMetadata
		_ = json.Unmarshal(raw, &object)
		return object.Name
	}
	var names []string
	for _, item := range event.Items {
		names = append(names, name(item))
	}
	if len(event.Object) > 0 {
		names = append(names, name(event.Object))
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s%s", event.Name, event.Kind, strings.Join(names, ","), event.ObjName))
}

func done(event client.Event) bool { return event.Done }

func (r *rig) service(t *testing.T, namespace, name string) *corev1.Service {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}},
	}
	r.Create(t, service)
	return service
}

func TestStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns, other := r.Namespace(t), r.Namespace(t)
	token := r.user(t, ns, rule("get,list,watch,create,delete", "", "services"))
	r.service(t, ns, "a")
	r.service(t, other, "hidden")

	f := r.follow(t, token, "", "", "services", "deployments")
	begin := f.until("the snapshot", done)
	if diff := cmp.Diff([]string{"denied deployments", "snapshot services a", "snapshot"}, begin); diff != "" {
		t.Errorf("it begins with (-want +got):\n%s", diff)
	}
	r.service(t, other, "hidden-too")
	b := r.service(t, ns, "b")
	must(t, r.Live.Delete(t.Context(), b))
	changes := f.until("the deletion", func(e client.Event) bool { return e.Name == client.EventDelete })
	if diff := cmp.Diff([]string{"upsert services b", "delete services b"}, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}

	// The connection is cut; what happens meanwhile is not lost, and nothing is sent twice.
	f.cancel()
	r.service(t, ns, "c")
	f = r.follow(t, token, "", f.last, "services", "deployments")
	if diff := cmp.Diff([]string{"upsert services c"}, f.until("c", func(e client.Event) bool { return e.Name == client.EventUpsert })); diff != "" {
		t.Errorf("after coming back (-want +got):\n%s", diff)
	}
	for name, id := range map[string]string{"another process": "gone-1-x", "no id at all": "%", "the future": f.last[:11] + "9999999-" + f.g(r)} {
		got := r.follow(t, token, "", id, "services").until("the snapshot", done)
		if got[0] != "resync" || got[len(got)-1] != "snapshot" {
			t.Errorf("with the id of %s it begins with %q", name, got)
		}
	}
}

func (f *follower) g(*rig) string { return f.last[strings.LastIndex(f.last, "-")+1:] }

// TestRightsAreAskedAgain takes rights away, and gives new ones, while a stream is open.
func TestRightsAreAskedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	home, other := r.Namespace(t), r.Namespace(t)
	token := r.token(t, home, "user")
	services := rule("get,list,watch", "", "services")
	binding := r.grant(t, home, home, services)
	r.service(t, other, "there")
	f := r.follow(t, token, "", "", "services")
	f.until("the snapshot", done)
	gained := r.grant(t, home, other, services)
	f.until("what is new", func(e client.Event) bool { return strings.Contains(describeEvent(e), "snapshot services there") })
	must(t, r.Live.Delete(t.Context(), gained))
	f.until("what is gone", func(e client.Event) bool {
		return e.Name == client.EventDenied && cmp.Equal(e.Namespaces, []string{other})
	})
	must(t, r.Live.Delete(t.Context(), binding))
	f.until("the rest", func(e client.Event) bool { return e.Name == client.EventDenied && e.Namespaces == nil })
	for range f.events { // which ends, because nothing is left to see
	}
}

func TestExpiredTokenEndsTheStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	home := r.Namespace(t)
	token := r.token(t, home, "user")
	r.grant(t, home, home, rule("get,list,watch", "", "services"))
	f := r.follow(t, token, "", "", "services")
	f.until("the snapshot", done)
	// The token is bound to the account.
	must(t, r.Live.Delete(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "user"}}))
	f.until("the end", func(e client.Event) bool { return e.Name == client.EventExpired })
	for range f.events {
	}
}

func TestStreamsPerCaller(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.StreamsPerCaller = 1 })
	token := r.user(t, "", everything())
	r.follow(t, token, "", "", "nodes").until("the snapshot", done)
	if got := r.do(t, http.MethodGet, "/v1/watch?kinds=nodes", token, ""); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
		t.Errorf("a second one: %d %s", got.status, got.body)
	}
}
