// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"slices"
	"time"
)

// maxQuestion is how long an answer about permissions is waited for, before they are asked for again.
const maxQuestion = 30 * time.Second

// verdict is an answer about the permissions of a reader.
type verdict struct {
	valid  bool
	scopes Scopes
	// err is not nil if nobody knows.
	err error
}

// question asks for the permissions of a reader, while the stream goes on: an API server that hangs must not take the heartbeats along.
type question struct {
	answer chan verdict
	// late tells that the answer takes too long.
	late *time.Timer
	// next is when to ask again.
	next *time.Timer
	// begun is when the question was asked, and due when it is to be asked again; due is zero until there is an answer.
	begun, due time.Time
}

// newQuestion returns a question that is asked after that pause.
func newQuestion(pause time.Duration, now time.Time) *question {
	q := &question{answer: make(chan verdict, 1), late: time.NewTimer(time.Hour), next: time.NewTimer(pause), due: now.Add(pause)}
	q.late.Stop()
	return q
}

// after asks again after that pause.
func (q *question) after(pause time.Duration, now time.Time) {
	q.due = now.Add(pause)
	q.next.Reset(pause)
}

// presses reports whether changes have to wait: for the question, or for its answer to be read.
func (q *question) presses(now time.Time) bool {
	return len(q.answer) > 0 || !q.due.IsZero() && !now.Before(q.due)
}

func (q *question) stop() {
	q.late.Stop()
	q.next.Stop()
}

// raise asks in the background. Until there is an answer, nothing else is asked.
func (s *stream) raise(ctx context.Context, q *question) {
	q.begun, q.due = s.Now(), time.Time{}
	q.late.Reset(s.Silence)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, maxQuestion)
		defer cancel()
		q.answer <- s.ask(ctx)
	}()
}

// ask asks who the reader is and what they may see.
func (s *stream) ask(ctx context.Context) verdict {
	out := verdict{}
	out.valid, out.err = s.Permissions.Valid(ctx)
	if out.err == nil && out.valid {
		out.scopes, out.err = s.Permissions.Scopes(ctx)
	}
	return out
}

// tell tells the reader when what they have may be old, and when it no longer is: because a store does not hear from the API server, or
// because nobody knows what the reader may see.
func (s *stream) tell() error {
	var now stale
	now, s.turned = s.hub.staleOf(s.Kinds)
	if !s.unanswered.IsZero() {
		now = stale{since: s.unanswered}
		for _, k := range s.Kinds {
			now.kinds = append(now.kinds, k.Plural)
		}
	}
	if s.begun {
		now.kinds = slices.DeleteFunc(now.kinds, func(plural string) bool { return s.scopes[plural].Empty() })
	}
	if slices.Equal(now.kinds, s.stale) {
		return nil
	}
	s.stale = now.kinds
	if len(now.kinds) == 0 {
		return s.writeString(freshEvent)
	}
	return s.write(staleEvent(now))
}
