// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// rawStream reads the lines of a stream, comments too.
type rawStream struct {
	t     *testing.T
	lines chan string
}

// open opens a stream of the Services of a namespace.
func (r *rig) open(t *testing.T, token, namespace string) *rawStream {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+"/v1/watch?kinds=services&ns="+namespace, http.NoBody)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the stream is answered %d", response.StatusCode)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return linesOf(t, response.Body)
}

// linesOf reads lines in the background, so that waiting for one has an end.
func linesOf(t *testing.T, from io.Reader) *rawStream {
	t.Helper()
	out := &rawStream{t: t, lines: make(chan string, 4096)}
	go func() {
		defer close(out.lines)
		for scanner := bufio.NewScanner(from); scanner.Scan(); {
			out.lines <- scanner.Text()
		}
	}()
	return out
}

// until reads up to the line that begins with the text, and returns what came before it.
func (s *rawStream) until(text string) []string {
	s.t.Helper()
	deadline := time.After(time.Minute)
	var seen []string
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				s.t.Fatalf("the stream ended before %q; seen: %q", text, seen)
			}
			if strings.HasPrefix(line, text) {
				return seen
			}
			seen = append(seen, line)
		case <-deadline:
			s.t.Fatalf("gave up waiting for %q; seen: %q", text, seen)
		}
	}
}

const (
	staleLine    = `data: {"type":"stale","behind":["services"],"since":"`
	freshLine    = `data: {"type":"fresh"}`
	completeLine = `data: {"type":"complete"`
	beatLine     = `data: {"type":"beat"}`
)

// TestStreamsOfAFrozenAPIServer stops the API server from answering without closing a connection, as a process that is suspended does.
// Streams go on and say so, and new ones begin and wait.
func TestStreamsOfAFrozenAPIServer(t *testing.T) {
	t.Parallel()
	l := &line{}
	r := newRig(t, l.on, func(o *Options) { o.RightsTTL, o.Silence = 100*time.Millisecond, 500*time.Millisecond })
	ns := r.Namespace(t)
	token := r.user(t, ns, rule("get,list,watch", "", "services"))
	r.service(t, ns, "web")
	old := r.open(t, token, ns)
	old.until(completeLine)
	release := l.hold(t)
	old.until(staleLine)
	for range 3 {
		old.until(beatLine)
	}
	fresh := r.open(t, token, ns)
	seen := fresh.until(staleLine)
	for range 3 {
		seen = append(seen, fresh.until(beatLine)...)
	}
	for _, line := range seen {
		if strings.HasPrefix(line, "data: ") && line != beatLine {
			t.Errorf("before anybody knows what its reader may see, the stream says %q", line)
		}
	}
	got := r.do(t, http.MethodGet, "/v1/watch", "invented", "", "Accept", "*/*")
	if got.status == http.StatusOK {
		t.Error("somebody whom nobody knows gets a stream")
	}
	testkit.Eventually(t, "the store is behind", func() bool { return r.kind(t, view.ServicesPlural).Store.Behind(time.Now()) > 0 })
	release()
	old.until(freshLine)
	fresh.until(completeLine)
	fresh.until(freshLine)
	r.service(t, ns, "later")
	for _, s := range []*rawStream{old, fresh} {
		s.until(`data: {"type":"upsert","kind":"services","object":{"apiVersion":"v1","kind":"Service","metadata":{"creationTimestamp"`)
	}
	testkit.Eventually(t, "the store is in step", func() bool { return r.kind(t, view.ServicesPlural).Store.Behind(time.Now()) == 0 })
}
