// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// granted is what a reader may see, until a test changes it.
type granted struct {
	valid  bool
	scopes Scopes
	err    error
}

// Valid implements Permissions.
func (g *granted) Valid(context.Context) (bool, error) { return g.valid, g.err }

// Scopes implements Permissions.
func (g *granted) Scopes(context.Context) (Scopes, error) { return g.scopes, g.err }

// TestRecheck changes what a reader may see while the stream is open, and reads what the stream says about it.
func TestRecheck(t *testing.T) {
	t.Parallel()
	everything := Scopes{view.ServicesPlural: {All: true}}
	const item = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"x","namespace":"a","resourceVersion":"2"}}`
	const begin = "id: none\nevent: resync\ndata: {\"type\":\"resync\"}\n\n" + `event: snapshot` + "\n"
	tests := map[string]struct {
		before Scopes
		after  granted
		want   string
		end    bool
		doubt  bool
	}{
		"nothing has changed":                     {everything, granted{valid: true, scopes: everything}, "", false, false},
		"nobody knows":                            {everything, granted{err: errors.New("no answer")}, "", false, true},
		"the token is no longer accepted":         {everything, granted{}, "event: expired\ndata: {\"type\":\"expired\"}\n\n", true, false},
		"nothing is left":                         {everything, granted{valid: true, scopes: Scopes{}}, `event: denied` + "\n" + `data: {"type":"denied","kind":"services","namespaces":null}` + "\n\n", true, false},
		"one of two namespaces is left":           {Scopes{view.ServicesPlural: view.InNamespaces("a", "b")}, granted{valid: true, scopes: Scopes{view.ServicesPlural: view.InNamespaces("a")}}, `event: denied` + "\n" + `data: {"type":"denied","kind":"services","namespaces":["b"]}` + "\n\n" + begin + `data: {"type":"snapshot","kind":"services","items":[` + item + `],"more":false}` + "\n\n", false, false},
		"what is new comes with a fresh snapshot": {Scopes{}, granted{valid: true, scopes: everything}, begin + `data: {"type":"snapshot","kind":"services","items":[` + item + `],"more":false}` + "\n\n", false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := NewHub(view.Kinds(), time.Now)
			must(t, services(h).Replace([]any{object("Service", "a", "x", 2)}, "2"))
			k, _ := h.Kind(view.ServicesPlural)
			out := httptest.NewRecorder()
			s := &stream{
				Subscription: Subscription{Kinds: []*Kind{k}, Permissions: &test.after, Now: time.Now}, hub: h,
				control: http.NewResponseController(out), out: bufio.NewWriter(out), scopes: test.before, hash: test.before.hash(nil), begun: true,
			}
			s.reader, _ = h.join(test.before, "", "")
			end, err := s.settle(t.Context(), s.ask(t.Context()))
			must(t, err)
			must(t, s.flush())
			raw, err := io.ReadAll(out.Body)
			must(t, err)
			got, _, _ := strings.Cut(string(raw), "id: "+h.journal.epoch) // which differs from process to process
			if diff := cmp.Diff(test.want, got); diff != "" || end != test.end || s.doubt != test.doubt {
				t.Errorf("end %t, doubt %t, want %t and %t; the stream says (-want +got):\n%s", end, s.doubt, test.end, test.doubt, diff)
			}
		})
	}
}

// TestAStreamInDoubtIsSilent keeps changes in the queue for as long as nobody knows whether the reader may see them.
func TestAStreamInDoubtIsSilent(t *testing.T) {
	t.Parallel()
	h := NewHub(view.Kinds(), time.Now)
	must(t, services(h).Replace(nil, "1"))
	k, _ := h.Kind(view.ServicesPlural)
	everything := Scopes{view.ServicesPlural: {All: true}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reads, writes := io.Pipe()
	s := &stream{
		Subscription: Subscription{Kinds: []*Kind{k}, Recheck: time.Hour, Heartbeat: time.Millisecond, Now: time.Now}, hub: h,
		control: http.NewResponseController(httptest.NewRecorder()), out: bufio.NewWriter(writes), scopes: everything, doubt: true, begun: true,
	}
	s.reader, _ = h.join(everything, "", "")
	must(t, services(h).Add(object("Service", "a", "x", 2)))
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx) }()
	lines := bufio.NewScanner(reads)
	for range 6 { // beats, and nothing else
		if lines.Scan(); lines.Text() != "" && !strings.Contains(heartbeatEvent, lines.Text()+"\n") {
			t.Errorf("in doubt the stream says %q", lines.Text())
		}
	}
	cancel()
	must(t, reads.Close())
	if err := <-ended; err == nil {
		t.Error("a stream that nobody reads ends without an error")
	}
	if len(s.reader.queue) != 1 {
		t.Errorf("%d changes wait, want 1", len(s.reader.queue))
	}
}

// grantedOnce is a right that is taken away after the first question.
type grantedOnce struct {
	scopes Scopes
	asked  atomic.Int64
}

// Valid implements Permissions.
func (g *grantedOnce) Valid(context.Context) (bool, error) { return g.asked.Add(1) == 1, nil }

// Scopes implements Permissions.
func (g *grantedOnce) Scopes(context.Context) (Scopes, error) { return g.scopes, nil }

// eventful is the connection of a reader who is as slow as the changes come: with each piece that they take, there is another change.
type eventful struct {
	*httptest.ResponseRecorder

	written func()
}

// Write implements io.Writer.
func (e *eventful) Write(raw []byte) (int, error) {
	e.written()
	return e.ResponseRecorder.Write(raw)
}

// TestAttackAReaderWhoIsNeverDone has a reader whose queue never runs empty: nobody used to ask again whether they may see the changes.
func TestAttackAReaderWhoIsNeverDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = 100
		h := NewHub(view.Kinds(), time.Now)
		must(t, services(h).Replace(nil, "1"))
		k, _ := h.Kind(view.ServicesPlural)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		changes := 0
		out := &eventful{ResponseRecorder: httptest.NewRecorder(), written: func() {
			<-time.After(2 * time.Second)
			if changes++; changes > most { // or the stream would go on for ever
				leave()
				return
			}
			large := object("Service", "a", "x", changes+1)
			large.SetAnnotations(map[string]string{"padding": strings.Repeat("x", 64<<10)}) // which no buffer holds back
			must(t, services(h).Update(large))
		}}
		err := h.Serve(ctx, out, Subscription{
			Kinds: []*Kind{k}, Permissions: &grantedOnce{scopes: allServices}, Recheck: 10 * time.Second, Silence: 5 * time.Second, Heartbeat: time.Hour, Now: time.Now,
		})
		if text := out.Body.String(); err != nil || !strings.HasSuffix(text, expiredEvent) {
			t.Errorf("the stream ends with %v after %d changes: %q", err, changes, text[max(0, len(text)-100):])
		}
	})
}
