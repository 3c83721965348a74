// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// writeTimeout is how long a reader may take for one batch of events before its connection is closed.
const writeTimeout = 30 * time.Second

// doubtRecheck is how often permissions that nobody knows are asked for.
const doubtRecheck = 2 * time.Second

// Permissions says what the reader of a stream may see. An error means that nobody knows, neither yes nor no.
type Permissions interface {
	// Valid reports whether the reader's credentials are still accepted.
	Valid(ctx context.Context) (bool, error)
	// Scopes returns what the reader may see; with an error, the part of it that is known.
	Scopes(ctx context.Context) (Scopes, error)
}

// Subscription is what a reader asked for.
type Subscription struct {
	// Kinds that are followed.
	Kinds []*Kind
	// Counted are kinds whose objects are counted. Default: none.
	Counted []*Kind
	// LastID is the id of the last event that the reader has seen. Default: empty, which begins with a snapshot.
	LastID string
	// Fields that objects have. Default: nil, for all.
	Fields *view.Projection
	// Permissions of the reader.
	Permissions Permissions
	// Recheck is how often Permissions are asked again.
	Recheck time.Duration
	// Silence is how long an answer about Permissions can take before the reader is told.
	Silence time.Duration
	// Heartbeat is how often a stream says that it lives.
	Heartbeat time.Duration
	// Stopping is closed when streams have to end.
	Stopping <-chan struct{}
	// Now is the clock that deadlines of writes are computed with.
	Now func() time.Time
}

// Serve writes events to one reader until the reader leaves, their permissions end, or the process stops.
func (h *Hub) Serve(ctx context.Context, w http.ResponseWriter, of Subscription) error {
	w.Header().Set("Content-Type", MediaType)
	w.Header().Set("X-Accel-Buffering", "no") // or a proxy would hold the events back
	w.WriteHeader(http.StatusOK)
	streamsOpen.Inc()
	defer streamsOpen.Dec()
	s := &stream{Subscription: of, hub: h, control: http.NewResponseController(w), out: bufio.NewWriterSize(w, 4096)}
	// A stream has no end, so that the deadline of a request does not apply to its connection.
	_ = s.control.SetReadDeadline(time.Time{})
	if err := s.writeString(retryLine); err != nil {
		return err
	}
	s.reader, s.doubt = newReader(), true
	defer func() { h.leave(s.reader) }()
	if err := s.flush(); err != nil { // so that a reader who has to wait knows that they are connected
		return err
	}
	return s.run(ctx)
}

// stream is one reader's connection. Only its own goroutine uses it.
type stream struct {
	Subscription

	hub     *Hub
	control *http.ResponseController
	out     *bufio.Writer

	reader *reader
	scopes Scopes
	// hash is that of the scopes of the kinds that are followed.
	hash  string
	known counted
	// doubt is true while nobody knows what the reader may see, and begun once that was known for the first time.
	doubt, begun bool
	// line is the buffer of ids, used again for each of them.
	line []byte
	// unanswered is since when nobody has said what the reader may see; zero while somebody does.
	unanswered time.Time
	// stale are the kinds of which the reader was told that they may be old, and turned is closed when there are others.
	stale  []string
	turned <-chan struct{}
	// until is the deadline of the connection for writes.
	until time.Time
	// taking is since when a snapshot or a batch of changes is written, zero while none is, and taken how many bytes of it were.
	taking time.Time
	taken  int
}

// run writes events until the stream has to end.
func (s *stream) run(ctx context.Context) error {
	heartbeat := time.NewTicker(s.Heartbeat)
	defer heartbeat.Stop()
	var counting <-chan time.Time // which delivers nothing to a reader who does not count
	if len(s.Counted) > 0 {
		ticker := time.NewTicker(countPause)
		defer ticker.Stop()
		counting = ticker.C
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := time.Duration(0)
	if s.begun {
		first = s.pause()
	}
	asked := newQuestion(first, s.Now())
	defer asked.stop()
	err := s.tell()
	for err == nil {
		if err = s.flush(); err != nil {
			break
		}
		queue := s.reader.queue
		if s.doubt || asked.presses(s.Now()) {
			queue = nil // which delivers nothing
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Stopping:
			return nil
		case next := <-queue:
			err = s.changes(next)
		case <-heartbeat.C:
			err = s.writeString(heartbeatEvent)
		case <-counting:
			err = s.counts()
		case <-s.turned:
			err = s.tell()
		case <-asked.next.C:
			s.raise(ctx, asked)
		case <-asked.late.C:
			s.doubt, s.unanswered = true, asked.begun
			err = s.tell()
		case answer := <-asked.answer:
			var end bool
			if end, err = s.answered(ctx, asked, answer); end {
				return errors.Join(err, s.flush())
			}
		}
	}
	return err
}

// answered goes on with what is known about the permissions now. It returns true when the stream has to end.
func (s *stream) answered(ctx context.Context, asked *question, answer verdict) (end bool, err error) {
	asked.late.Stop()
	if end, err := s.settle(ctx, answer); end || err != nil {
		return end, err
	}
	switch {
	case !s.doubt:
		s.unanswered = time.Time{}
	case s.unanswered.IsZero():
		s.unanswered = asked.begun
	}
	asked.after(s.pause(), s.Now())
	return false, s.tell()
}

// pause returns how long it takes until the permissions are asked for again: sooner while nobody knows them. Jitter spreads
// the questions of many streams.
func (s *stream) pause() time.Duration {
	every := s.Recheck
	if s.doubt {
		every = min(every, doubtRecheck)
	}
	return every + time.Duration(rand.Int64N(int64(every)/4+1))
}

// begin writes what a reader who may see that starts with.
func (s *stream) begin(scopes Scopes) error {
	followed := s.followed(scopes)
	s.scopes, s.hash, s.begun = scopes, followed.hash(s.Fields), true
	var of snapshot
	s.reader, of = s.hub.join(followed, s.LastID, s.hash)
	if of.resumed {
		if err := s.missed(of.missed); err != nil {
			return err
		}
		return s.counts()
	}
	for _, k := range s.Kinds {
		if s.scopes[k.Plural].Empty() {
			if err := s.write(deniedEvent(k.Plural, nil)); err != nil {
				return err
			}
		}
	}
	first := noID // so that who reconnects in the middle is told to forget the part that they have
	if s.LastID != "" {
		first = resyncEvent
	}
	if err := s.writeString(first); err != nil {
		return err
	}
	if err := s.snapshot(of); err != nil {
		return err
	}
	return s.counts()
}

// followed returns the scopes of the kinds that are followed: others are only counted.
func (s *stream) followed(of Scopes) Scopes {
	if len(s.Counted) == 0 {
		return of
	}
	out := Scopes{}
	for _, k := range s.Kinds {
		out[k.Plural] = of[k.Plural]
	}
	return out
}

// counts writes the counts if they have changed, and nothing while nobody knows what the reader may see.
func (s *stream) counts() error {
	if len(s.Counted) == 0 || s.doubt || !s.begun {
		return nil
	}
	return s.write(s.hub.countsEvent(s.Counted, s.scopes, &s.known))
}

// changes writes a change and those that wait behind it. A reader that has lost one begins again.
func (s *stream) changes(next *change) error {
	lost, err := s.batch(next)
	if err != nil || !lost {
		return err
	}
	return s.restart(s.hub.renew(s.reader, s.followed(s.scopes)))
}

// settle takes an answer about the permissions. It returns true when the stream has to end. An API server that does not answer takes nothing
// away: until it answers, the stream stays as it is and delivers nothing new.
func (s *stream) settle(ctx context.Context, answer verdict) (end bool, err error) {
	if answer.err == nil && !answer.valid {
		return true, s.writeString(expiredEvent)
	}
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	now := answer.scopes
	if s.doubt = answer.err != nil; s.doubt {
		return false, nil
	}
	if !s.begun {
		return false, s.begin(now)
	}
	if now.hash(nil) == s.scopes.hash(nil) {
		return false, nil
	}
	before, followed := s.scopes, s.followed(now)
	s.scopes, s.known.revisions = now, nil
	hash := followed.hash(s.Fields)
	if hash == s.hash {
		return false, s.counts()
	}
	s.hash = hash
	nothing := true
	for _, k := range s.Counted {
		nothing = nothing && now[k.Plural].Empty()
	}
	for _, k := range s.Kinds {
		nothing = nothing && now[k.Plural].Empty()
		if err := s.denyLost(k, before[k.Plural], now[k.Plural]); err != nil {
			return true, err
		}
	}
	of := s.hub.renew(s.reader, followed)
	if nothing {
		return true, nil
	}
	// The queue was emptied, so the reader begins again; rights change seldom.
	return false, s.restart(of)
}

// restart tells the reader to forget everything and sends a snapshot.
func (s *stream) restart(of snapshot) error {
	if err := s.writeString(resyncEvent); err != nil {
		return err
	}
	if err := s.snapshot(of); err != nil {
		return err
	}
	s.known = counted{} // the reader has forgotten it
	return s.counts()
}
