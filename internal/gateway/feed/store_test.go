// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func services(h *Hub) *Store {
	k, _ := h.Kind(view.ServicesPlural)
	return k.Store
}

func object(kindName, namespace, name string, version int) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kindName}}
	out.SetNamespace(namespace)
	out.SetName(name)
	out.SetResourceVersion(strconv.Itoa(version))
	return out
}

// Nobody could see which kind filled the memory of the gateway.
func TestAttackObjectsFillTheStoresUnseen(t *testing.T) {
	t.Parallel()
	kind := &view.Kind{Plural: "measured"} // of its own: the figures are those of the process
	s := newStore(kind, newJournal(time.Now))
	measured := func() [2]float64 {
		var figures [2]float64
		for i, gauge := range []*prometheus.GaugeVec{storedObjects, storedBytes} {
			var read dto.Metric
			must(t, gauge.WithLabelValues(kind.Plural).Write(&read))
			figures[i] = read.GetGauge().GetValue()
		}
		return figures
	}
	kept := func() [2]float64 {
		total := 0
		for _, item := range s.items {
			total += len(item.JSON)
		}
		return [2]float64{float64(len(s.items)), float64(total)}
	}
	large := func(name string, length, version int) *unstructured.Unstructured {
		out := object("Measured", "a", name, version)
		out.SetAnnotations(map[string]string{"padding": strings.Repeat("x", length)})
		return out
	}
	for _, step := range []struct {
		does string
		err  error
	}{
		{"the first list", s.Replace([]any{large("one", 1000, 1), large("two", 2000, 2)}, "2")},
		{"a new object", s.Update(large("three", 3000, 3))},
		{"a larger one", s.Update(large("one", 5000, 4))},
		{"one that is gone", s.Delete(large("two", 10, 5))},
		{"one that was never there", s.Delete(large("four", 10, 6))},
		{"another list", s.Replace([]any{large("three", 3000, 3), large("five", 100, 7)}, "7")},
	} {
		must(t, step.err)
	}
	if got, want := measured(), kept(); got != want || want[0] != 2 || want[1] < 3100 {
		t.Errorf("the metrics say %v objects and bytes; the store keeps %v", got, want)
	}
}

// TestSlowReader holds that a reader who does not read is never waited for, learns that he has lost something, and begins anew.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	h := NewHub(view.Kinds(), time.Now)
	s := services(h)
	must(t, s.Replace(nil, "1"))
	all := Scopes{view.ServicesPlural: {All: true}}
	slow, begin := h.join(all, "", "")
	if len(begin.parts[0].items) != 0 {
		t.Fatalf("the snapshot is %v", begin.parts[0].items)
	}
	for i := range queueSize + 10 {
		must(t, s.Update(object("Service", "a", fmt.Sprint("s", i), i+2)))
	}
	if !slow.lost.Load() || len(slow.queue) != queueSize {
		t.Fatalf("lost is %t with %d in the queue", slow.lost.Load(), len(slow.queue))
	}
	again := h.renew(slow, all)
	if len(again.parts[0].items) != queueSize+10 || len(slow.queue) != 0 || slow.lost.Load() {
		t.Errorf("the new snapshot has %d items, %d are in the queue", len(again.parts[0].items), len(slow.queue))
	}
	must(t, s.Update(object("Service", "a", "one more", 9999)))
	if event := <-slow.queue; event.sequence != again.sequence+1 {
		t.Errorf("after the snapshot of %d comes event %d", again.sequence, event.sequence)
	}
}

// TestStore checks that a list does not change while it is read, and that a relist sends only the differences.
func TestStore(t *testing.T) {
	t.Parallel()
	h := NewHub(view.Kinds(), time.Now)
	s := services(h)
	if _, _, ok := s.List(); ok {
		t.Error("a store that was never filled is in step")
	}
	must(t, s.Replace([]any{object("Service", "b", "x", 1), object("Service", "a", "y", 2)}, "5"))
	before, version, ok := s.List()
	if !ok || version != 5 || len(before) != 2 || before[0].Key() != "a/y" {
		t.Fatalf("the list is %v at %d", before, version)
	}
	must(t, s.Add(object("Service", "a", "z", 6)))
	must(t, s.Delete(object("Service", "b", "x", 7)))
	if len(before) != 2 || before[1].Key() != "b/x" {
		t.Errorf("the first list has become %v", before)
	}
	sequence := h.journal.sequence
	must(t, s.Replace([]any{object("Service", "a", "y", 2), object("Service", "a", "z", 8)}, "9"))
	after, version, _ := s.List()
	if h.journal.sequence != sequence+1 || version != 9 || len(after) != 2 || after[1].Version != 8 {
		t.Errorf("a relist tells %d events and leaves %v at %d", h.journal.sequence-sequence, after, version)
	}
	// What was made while nobody watched, and what was made anew under the same name.
	again := object("Service", "a", "y", 2)
	again.SetUID("another")
	must(t, s.Replace([]any{again, object("Service", "a", "z", 8), object("Service", "c", "new", 11)}, "12"))
	if after, _, _ = s.List(); h.journal.sequence != sequence+3 || len(after) != 3 || after[0].UID != "another" || after[2].Key() != "c/new" {
		t.Errorf("a relist with what is new tells %d events and leaves %v", h.journal.sequence-sequence-1, after)
	}
}

// TestOneEncodingForAll holds that readers share the bytes of an event.
func TestOneEncodingForAll(t *testing.T) {
	t.Parallel()
	h := NewHub(view.Kinds(), time.Now)
	must(t, services(h).Replace(nil, "1"))
	all := Scopes{view.ServicesPlural: view.InNamespaces("a")}
	first, _ := h.join(all, "", "")
	second, _ := h.join(all, "", "")
	must(t, services(h).Add(object("Service", "a", "x", 2)))
	must(t, services(h).Add(object("Service", "b", "x", 3)))
	if one, two := <-first.queue, <-second.queue; one != two || len(first.queue) != 0 {
		t.Error("readers do not share the event, or see another namespace's")
	}
	if item, exists := services(h).Get("a", "x"); !exists || item.Version != 2 {
		t.Errorf("the item is %+v", item)
	}
}

// TestEventsAreNotPutTogetherAnew holds that writing an event to a reader costs no memory: what all readers share is copied from
// where it is, and only the id is his own.
func TestEventsAreNotPutTogetherAnew(t *testing.T) { //nolint:paralleltest // because others would allocate meanwhile
	h := NewHub(view.Kinds(), time.Now)
	s := &stream{
		Subscription: Subscription{Now: time.Now}, hub: h, hash: "s", reader: &reader{queue: make(chan *change, queueSize)},
		control: http.NewResponseController(httptest.NewRecorder()), out: bufio.NewWriterSize(io.Discard, 4096),
	}
	event := &change{sequence: 1 << 40, payload: bytes.Repeat([]byte("x"), 2000)}
	if allocs := testing.AllocsPerRun(100, func() {
		s.reader.queue <- event
		if err := s.changes(<-s.reader.queue); err != nil {
			t.Fatal(err)
		}
	}); allocs > 0 {
		t.Errorf("an event costs %g allocations", allocs)
	}
	if s.until.IsZero() {
		t.Error("the reader has no deadline")
	}
	if got := string(appendIDLine(nil, h.journal.epoch, 7, "s")); got != "id: "+h.journal.epoch+"-7-s\n" {
		t.Errorf("the id is %q", got)
	}
}

func FuzzEventID(f *testing.F) {
	h := NewHub(view.Kinds(), time.Now)
	none := Scopes{}
	f.Add(h.journal.epoch + "-0-" + none.hash(nil))
	f.Add(h.journal.epoch + "-18446744073709551615-" + none.hash(nil))
	f.Add("--")
	f.Fuzz(func(t *testing.T, id string) {
		r, begin := h.join(none, id, none.hash(nil))
		defer h.leave(r)
		if begin.resumed && !strings.HasPrefix(id, h.journal.epoch+"-") {
			t.Errorf("%q goes on", id)
		}
	})
}

func FuzzStore(f *testing.F) {
	f.Add([]byte("abcABC"))
	f.Fuzz(func(t *testing.T, steps []byte) {
		h := NewHub(view.Kinds(), time.Now)
		s := services(h)
		must(t, s.Replace(nil, "1"))
		model := map[string]bool{}
		for i, step := range steps {
			obj := object("Service", string('a'+rune(step%3)), string('a'+rune(step%5)), i+2)
			if step%2 == 0 {
				must(t, s.Update(obj))
			} else {
				must(t, s.Delete(&unstructured.Unstructured{Object: obj.Object}))
			}
			model[obj.GetNamespace()+"/"+obj.GetName()] = step%2 == 0
		}
		items, _, _ := s.List()
		for i, item := range items {
			if !model[item.Key()] || i > 0 && items[i-1].Key() >= item.Key() {
				t.Errorf("the list is %v", items)
			}
			delete(model, item.Key())
		}
		for key, there := range model {
			if there {
				t.Errorf("%s is missing", key)
			}
		}
	})
}
