// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const watchPath = "/v1/watch"

const (
	// writeTimeout is how long a reader may take for one batch of events before he counts as gone.
	writeTimeout = 30 * time.Second
	// snapshotBytes is how large one event of a snapshot may be before the next one begins.
	snapshotBytes = 256 << 10
	// maxStreams bounds the streams of everybody together.
	maxStreams = 5000
	// retryMillis is how long a browser waits before it comes back.
	retryMillis = 2000
)

// streams counts the open streams of each caller.
type streams struct {
	mu        sync.Mutex
	perCaller int
	open      map[string]int
	all       int
}

func newStreams(perCaller int) *streams {
	return &streams{perCaller: perCaller, open: map[string]int{}}
}

// enter counts a stream, if there may be another one.
func (s *streams) enter(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] >= s.perCaller || s.all >= maxStreams {
		return false
	}
	s.open[key]++
	s.all++
	return true
}

func (s *streams) leave(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.open[key]--; s.open[key] == 0 {
		delete(s.open, key)
	}
}

// watchInput is what is followed.
type watchInput struct {
	Kinds       string `query:"kinds" maxLength:"512" doc:"Kinds, as the routes call them, separated by commas; default all"`
	Namespace   string `query:"ns" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace; without it all that the caller may see"`
	LastEventID string `header:"Last-Event-ID" maxLength:"128" doc:"The id of the last event that was seen, to go on from there"`
}

// watch answers with a stream of events.
func (g *Gateway) watch(ctx context.Context, in *watchInput) (*huma.StreamResponse, error) {
	who, err := callerOf(ctx)
	if err != nil {
		return nil, err
	}
	wanted, err := g.chosen(in.Kinds)
	if err != nil {
		return nil, err
	}
	if in.Namespace != "" && len(validation.IsDNS1123Label(in.Namespace)) > 0 {
		return nil, fieldErrors(&view.FieldError{Location: "query.ns", Message: "is no name of a namespace"})
	}
	if !g.streams.enter(who.key()) {
		return nil, tooMany(time.Second)
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) { //nolint:contextcheck // because a stream lives as long as its request
		defer g.streams.leave(who.key())
		r, w := humago.Unwrap(ctx)
		s := &stream{
			g: g, who: who, wanted: wanted, namespace: in.Namespace, control: http.NewResponseController(w),
			out: bufio.NewWriterSize(w, 4096),
		}
		w.Header().Set("Content-Type", mediaEvents)
		w.Header().Set("X-Accel-Buffering", "no") // or a proxy would keep the events for itself
		w.WriteHeader(http.StatusOK)
		streamsOpen.Inc()
		defer streamsOpen.Dec()
		// A reader who has gone ends the stream, and that is all there is to it.
		_ = s.run(r.Context(), in.LastEventID)
	}}, nil
}

// chosen returns which kinds of the table are wanted.
func (g *Gateway) chosen(list string) ([]bool, error) {
	out := make([]bool, len(g.kinds))
	if list == "" {
		for i := range out {
			out[i] = true
		}
		return out, nil
	}
	for plural := range strings.SplitSeq(list, ",") {
		at, known := byPlural(g.kinds, strings.TrimSpace(plural))
		if !known {
			return nil, fieldErrors(&view.FieldError{Location: "query.kinds", Message: fmt.Sprintf("%q is no kind", plural)})
		}
		out[at] = true
	}
	return out, nil
}

// stream is one reader's connection. Only its own goroutine uses it.
type stream struct {
	g         *Gateway
	who       *caller
	wanted    []bool
	namespace string
	control   *http.ResponseController
	out       *bufio.Writer

	reader *reader
	scopes scopes
	hash   string
	// doubt is true while nobody can say what the caller may see.
	doubt bool
	// line is where ids are put together, used again for each of them.
	line []byte
	// until is when the connection gives up on a reader who takes nothing.
	until time.Time
}

// scope asks what the caller may see now. With an error nobody knows it of some kinds.
func (s *stream) scope(ctx context.Context) (scopes, error) {
	out := make(scopes, len(s.wanted))
	var doubt error
	for i, wanted := range s.wanted {
		if !wanted {
			continue
		}
		k := &s.g.kinds[i]
		within := s.namespace
		if !k.namespaced {
			within = ""
		}
		var err error
		if out[i], err = s.g.rights.scopeOf(ctx, s.who, k, within, "list", "watch"); err != nil {
			doubt = err
		}
	}
	return out, doubt
}

// run writes events until the reader, the caller's rights or the gateway end.
func (s *stream) run(ctx context.Context, lastID string) error {
	s.scopes, _ = s.scope(ctx) // in doubt he may not; it is asked again soon
	s.hash = s.scopes.hash()
	var begin snapshot
	s.reader, begin = s.g.hub.follow(s.scopes, lastID)
	defer s.g.hub.leave(s.reader)
	if err := s.begin(begin, lastID); err != nil {
		return err
	}
	heartbeat := time.NewTicker(s.g.options.Heartbeat)
	defer heartbeat.Stop()
	// Not all streams ask at the same moment.
	ttl := s.g.options.RightsTTL
	recheck := time.NewTicker(ttl + time.Duration(rand.Int64N(int64(ttl)/4+1)))
	defer recheck.Stop()
	for {
		var err error
		queue := s.reader.queue
		if s.doubt {
			queue = nil // from which nothing comes
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.g.stopping:
			return nil
		case event := <-queue:
			err = s.events(event)
		case <-heartbeat.C:
			_, err = s.out.WriteString(": still here\n\n")
		case <-recheck.C:
			var end bool
			if end, err = s.recheck(ctx); end {
				return s.flush()
			}
		}
		if err == nil {
			err = s.flush()
		}
		if err != nil {
			return err
		}
	}
}

// begin writes what a reader starts with.
func (s *stream) begin(of snapshot, lastID string) error {
	if _, err := fmt.Fprintf(s.out, "retry: %d\n\n", retryMillis); err != nil {
		return err
	}
	if of.resumed {
		for _, event := range of.missed {
			if err := s.event(event); err != nil {
				return err
			}
		}
		return s.flush()
	}
	for i, wanted := range s.wanted {
		if wanted && s.scopes[i].empty() {
			if err := s.denied(i, nil); err != nil {
				return err
			}
		}
	}
	if lastID != "" {
		if err := s.resync(); err != nil {
			return err
		}
	}
	return s.snapshot(of)
}

// events writes an event and those that wait behind it. Who has lost one begins anew.
func (s *stream) events(event *frame) error {
	for {
		if s.reader.lost.Load() {
			if err := s.resync(); err != nil {
				return err
			}
			return s.snapshot(s.g.hub.renew(s.reader, s.scopes))
		}
		if err := s.event(event); err != nil {
			return err
		}
		select {
		case event = <-s.reader.queue:
		default:
			return nil
		}
	}
}

// event writes an event: an id of the reader's own, and the bytes that all readers share.
func (s *stream) event(event *frame) error {
	if err := s.id(event.sequence); err != nil {
		return err
	}
	return s.write(event.payload)
}

func (s *stream) id(sequence uint64) error {
	s.line = s.g.hub.appendID(s.line[:0], sequence, s.hash)
	return s.write(s.line)
}

// write gives the reader time for what is written next: a buffer that is full goes out by itself. The deadline is moved once a second
// and not for every event, which would cost more than the event does.
func (s *stream) write(raw []byte) error {
	now := time.Now() //nolint:forbidigo // because a socket has no other clock
	if s.until.Sub(now) < writeTimeout-time.Second {
		s.until = now.Add(writeTimeout)
		// What cannot have a deadline, such as a recorder in a test, needs none.
		_ = s.control.SetWriteDeadline(s.until)
	}
	_, err := s.out.Write(raw)
	return err
}

func (s *stream) flush() error {
	if err := s.write(nil); err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	return s.control.Flush()
}

// tell writes an event of the gateway's own.
func (s *stream) tell(name string, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return s.write(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, raw))
}

func (s *stream) resync() error { return s.tell("resync", struct{}{}) }

func (s *stream) denied(kindIndex int, namespaces []string) error {
	return s.tell("denied", map[string]any{fieldKind: s.g.kinds[kindIndex].plural, "namespaces": namespaces})
}
