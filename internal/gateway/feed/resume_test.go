// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

var allServices = Scopes{view.ServicesPlural: {All: true}}

// serving returns the stream of a reader of Services who has seen the id, and what is written to it.
func serving(h *Hub, lastID string) (*stream, *httptest.ResponseRecorder) {
	k, _ := h.Kind(view.ServicesPlural)
	out := httptest.NewRecorder()
	return &stream{
		Subscription: Subscription{Kinds: []*Kind{k}, LastID: lastID, Now: time.Now}, hub: h,
		control: http.NewResponseController(out), out: bufio.NewWriter(out),
	}, out
}

// lastOf returns the id that a reader who has seen the text names when it reconnects.
func lastOf(text string) (id string) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(value)
		}
	}
	return id
}

// TestACutDuringASnapshotLosesObjects cuts a stream after each event of a snapshot. The reader has forgotten all that it had, so that nobody
// may give it changes only when it reconnects.
func TestACutDuringASnapshotLosesObjects(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(h *Hub) (before string, text string, err error){
		"a first snapshot": func(h *Hub) (string, string, error) {
			s, out := serving(h, "")
			err := s.begin(allServices)
			return "", out.Body.String(), errors.Join(err, s.flush())
		},
		"the snapshot of a slow reader": func(h *Hub) (string, string, error) {
			s, out := serving(h, "")
			err := errors.Join(s.begin(allServices), s.flush())
			before := out.Body.Len()
			err = errors.Join(err, s.restart(h.renew(s.reader, allServices)), s.flush())
			return out.Body.String()[:before], out.Body.String()[before:], err
		},
		"the snapshot of a reader that comes with other rights": func(h *Hub) (string, string, error) {
			s, out := serving(h, "")
			err := errors.Join(s.begin(allServices), s.flush())
			narrow, text := serving(h, lastOf(out.Body.String()))
			err = errors.Join(err, narrow.begin(Scopes{view.ServicesPlural: view.InNamespaces("a")}), narrow.flush())
			return out.Body.String(), text.Body.String(), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := NewHub(view.Kinds(), time.Now)
			must(t, services(h).Replace([]any{object("Service", "a", "x", 2)}, "2"))
			before, text, err := open(h)
			must(t, err)
			part, events := before, strings.SplitAfter(strings.TrimSuffix(text, "\n\n"), "\n\n")
			for _, event := range events[:len(events)-1] { // the last one completes the snapshot
				part += event
				id := lastOf(part)
				if _, again := h.join(allServices, id, allServices.hash(nil)); id == "" || again.resumed {
					t.Errorf("cut after %q, the reader names %q, which resumes: %t; it has to be told to forget what it has", event, id, again.resumed)
				}
			}
			if whole, _ := serving(h, lastOf(before+text)); len(events) < 2 || !strings.Contains(whole.LastID, h.journal.epoch) {
				t.Errorf("after the %d events of a whole snapshot the reader names %q", len(events), whole.LastID)
			}
		})
	}
}

// TestAResumeSkipsTheFirstFillOfAKind has a reader whose snapshot lacks a kind, because its store was not in step. While the reader is away
// the store learns more. A reader of another kind loses nothing, and resumes.
func TestAResumeSkipsTheFirstFillOfAKind(t *testing.T) {
	t.Parallel()
	refusal := apierrors.NewForbidden(schema.GroupResource{Resource: view.ServicesPlural}, "", nil)
	fill := func(h *Hub) error { return services(h).Replace([]any{object("Service", "a", "x", 2)}, "2") }
	both := Scopes{view.ServicesPlural: {All: true}, view.NodesPlural: {All: true}}
	nodes := Scopes{view.NodesPlural: {All: true}}
	for name, test := range map[string]struct {
		before, away func(h *Hub) error
		of           Scopes
		want         bool
	}{
		"a kind that is filled": {away: fill, of: both},
		"a kind that is refused": {
			away: func(h *Hub) error { services(h).heard(refusal); return nil }, of: both,
		},
		"a refused kind that is filled": {
			before: func(h *Hub) error { services(h).heard(refusal); return nil }, away: fill, of: both,
		},
		"a filled kind that is not followed":    {away: fill, of: nodes, want: true},
		"a kind that was filled in good time":   {before: fill, of: both, want: true},
		"a kind that nobody can say more about": {of: both, want: true},
		"a filled kind that changes": {
			before: fill, away: func(h *Hub) error { return services(h).Add(object("Service", "a", "y", 3)) }, of: both, want: true,
		},
		"a filled kind that is listed again": {
			before: fill, away: func(h *Hub) error { return services(h).Replace(nil, "3") }, of: both, want: true,
		},
		"a filled kind whose watch is refused": {
			before: fill, away: func(h *Hub) error { services(h).heard(refusal); return nil }, of: both, want: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := NewHub(view.Kinds(), time.Now)
			k, _ := h.Kind(view.NodesPlural)
			must(t, k.Store.Replace([]any{object("Node", "", "n", 1)}, "1"))
			if test.before != nil {
				must(t, test.before(h))
			}
			r, whole := h.join(test.of, "", "")
			id := fmt.Sprintf("%s-%d-%s", h.journal.epoch, whole.sequence, test.of.hash(nil))
			h.leave(r)
			if test.away != nil {
				must(t, test.away(h))
			}
			if _, again := h.join(test.of, id, test.of.hash(nil)); again.resumed != test.want {
				t.Errorf("it resumes: %t, want %t", again.resumed, test.want)
			}
		})
	}
}
