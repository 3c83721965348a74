// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-operator/windlass/internal/gateway/client"
	"github.com/windlass-operator/windlass/internal/gateway/view"
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
			f.events <- event
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

func object(kindName, namespace, name string, version int) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kindName}}
	out.SetNamespace(namespace)
	out.SetName(name)
	out.SetResourceVersion(strconv.Itoa(version))
	return out
}

// TestSlowReader holds that a reader who does not read is never waited for, learns that he has lost something, and begins anew.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	h := newHub(kinds())
	at, _ := byPlural(h.kinds, servicesPlural)
	s := h.stores[at]
	must(t, s.Replace(nil, "1"))
	all := make(scopes, len(h.kinds))
	all[at] = scope{all: true}
	slow, begin := h.follow(all, "")
	if len(begin.items[at]) != 0 {
		t.Fatalf("the snapshot is %v", begin.items[at])
	}
	for i := range queueSize + 10 {
		must(t, s.Update(object("Service", "a", fmt.Sprint("s", i), i+2)))
	}
	if !slow.lost.Load() || len(slow.queue) != queueSize {
		t.Fatalf("lost is %t with %d in the queue", slow.lost.Load(), len(slow.queue))
	}
	again := h.renew(slow, all)
	if len(again.items[at]) != queueSize+10 || len(slow.queue) != 0 || slow.lost.Load() {
		t.Errorf("the new snapshot has %d items, %d are in the queue", len(again.items[at]), len(slow.queue))
	}
	must(t, s.Update(object("Service", "a", "one more", 9999)))
	if event := <-slow.queue; event.sequence != again.sequence+1 {
		t.Errorf("after the snapshot of %d comes event %d", again.sequence, event.sequence)
	}
}

// TestStore holds that a list is not changed under whoever reads it, and that only what differs is told after a relist.
func TestStore(t *testing.T) {
	t.Parallel()
	h := newHub(kinds())
	at, _ := byPlural(h.kinds, servicesPlural)
	s := h.stores[at]
	if _, _, ok := s.list(); ok {
		t.Error("a store that was never filled is in step")
	}
	must(t, s.Replace([]any{object("Service", "b", "x", 1), object("Service", "a", "y", 2)}, "5"))
	before, version, ok := s.list()
	if !ok || version != 5 || len(before) != 2 || before[0].Key() != "a/y" {
		t.Fatalf("the list is %v at %d", before, version)
	}
	must(t, s.Add(object("Service", "a", "z", 6)))
	must(t, s.Delete(object("Service", "b", "x", 7)))
	if len(before) != 2 || before[1].Key() != "b/x" {
		t.Errorf("the first list has become %v", before)
	}
	sequence := h.sequence
	must(t, s.Replace([]any{object("Service", "a", "y", 2), object("Service", "a", "z", 8)}, "9"))
	after, version, _ := s.list()
	if h.sequence != sequence+1 || version != 9 || len(after) != 2 || after[1].Version != 8 {
		t.Errorf("a relist tells %d events and leaves %v at %d", h.sequence-sequence, after, version)
	}
	// What was made while nobody watched, and what was made anew under the same name.
	again := object("Service", "a", "y", 2)
	again.SetUID("another")
	must(t, s.Replace([]any{again, object("Service", "a", "z", 8), object("Service", "c", "new", 11)}, "12"))
	if after, _, _ = s.list(); h.sequence != sequence+3 || len(after) != 3 || after[0].UID != "another" || after[2].Key() != "c/new" {
		t.Errorf("a relist with what is new tells %d events and leaves %v", h.sequence-sequence-1, after)
	}
}

// TestOneEncodingForAll holds that readers share the bytes of an event.
func TestOneEncodingForAll(t *testing.T) {
	t.Parallel()
	h := newHub(kinds())
	at, _ := byPlural(h.kinds, servicesPlural)
	must(t, h.stores[at].Replace(nil, "1"))
	all := make(scopes, len(h.kinds))
	all[at] = scope{namespaces: map[string]struct{}{"a": {}}}
	first, _ := h.follow(all, "")
	second, _ := h.follow(all, "")
	must(t, h.stores[at].Add(object("Service", "a", "x", 2)))
	must(t, h.stores[at].Add(object("Service", "b", "x", 3)))
	if one, two := <-first.queue, <-second.queue; one != two || len(first.queue) != 0 {
		t.Error("readers do not share the event, or see another namespace's")
	}
	if item, exists := h.stores[at].get("a", "x"); !exists || item.Version != 2 {
		t.Errorf("the item is %+v", item)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	var items []*view.Item
	for _, key := range [][2]string{{"a", "1"}, {"a", "2"}, {"a-b", "1"}, {"b", "1"}} {
		items = append(items, &view.Item{Namespace: key[0], Name: key[1]})
	}
	for of, want := range map[string]int{"a": 2, "a-b": 1, "c": 0, "a b": 3} {
		if got := view.Within(items, strings.Fields(of)); len(got) != want {
			t.Errorf("within %q there are %d, want %d", of, len(got), want)
		}
	}
}

// TestEventsAreNotPutTogetherAnew holds that writing an event to a reader costs no memory: what all readers share is copied from
// where it is, and only the id is his own.
func TestEventsAreNotPutTogetherAnew(t *testing.T) { //nolint:paralleltest // because others would allocate meanwhile
	h := newHub(kinds())
	s := &stream{
		g: &Gateway{hub: h}, hash: "s", reader: &reader{queue: make(chan *frame, queueSize)},
		control: http.NewResponseController(httptest.NewRecorder()), out: bufio.NewWriterSize(io.Discard, 4096),
	}
	event := &frame{sequence: 1 << 40, payload: bytes.Repeat([]byte("x"), 2000)}
	if allocs := testing.AllocsPerRun(100, func() {
		s.reader.queue <- event
		if err := s.events(<-s.reader.queue); err != nil {
			t.Fatal(err)
		}
	}); allocs > 0 {
		t.Errorf("an event costs %g allocations", allocs)
	}
	if s.until.IsZero() {
		t.Error("the reader has no deadline")
	}
	if got := string(h.appendID(nil, 7, "s")); got != "id: "+h.epoch+"-7-s\n" {
		t.Errorf("the id is %q", got)
	}
}
