// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// spare is how large a buffer may be that is kept for the next message.
const spare = 64 << 10

// Limits bounds what a relay does for its caller.
type Limits struct {
	// Message is the largest message in either direction, in bytes.
	Message int64
	// Write is how long the caller may take for one message.
	Write time.Duration
	// Heartbeat is how often an idle caller is pinged, and Pong how long they may take to answer.
	Heartbeat, Pong time.Duration
	// Sent is called with each message of the caller before it is passed on. It must not keep it. Default: nil.
	Sent func(message []byte)
	// Now is the clock.
	Now func() time.Time
}

// End says why a relay has ended, as the caller is told. As the cause of a context, it ends one.
type End struct { //nolint:errname // because most ends are no failures
	// Code and Reason are those of the message that closes a WebSocket.
	Code   websocket.StatusCode
	Reason string
}

// Error implements error.
func (e *End) Error() string { return fmt.Sprintf("%s (%d)", e.Reason, e.Code) }

// Server is the side that a caller has a session with. A WebSocket is one.
type Server interface {
	// Reader returns the next message. Its error ends the session: the caller is told an *End as it is, and the code of a websocket.CloseError.
	Reader(ctx context.Context) (websocket.MessageType, io.Reader, error)
	// Write takes a message. Its error ends the session as well.
	Write(ctx context.Context, kind websocket.MessageType, message []byte) error
	// SetReadLimit bounds the messages of Reader, in bytes.
	SetReadLimit(n int64)
	// CloseNow ends Reader and Write, those under way too.
	CloseNow() error
}

// session is a relay that runs.
type session struct {
	Limits

	caller *websocket.Conn
	server Server
	// reading is since when the relay has been waiting for a message of the caller, in nanoseconds since begun; 0 while it passes one on.
	reading atomic.Int64
	begun   time.Time
	// wrote is when the last message was passed on to the caller, in nanoseconds since begun.
	wrote atomic.Int64
	// silent is true for a caller who answers nothing, and so would not answer a goodbye.
	silent atomic.Bool
}

// Run passes messages on until one side is gone or the context ends, and closes both. It returns why it ended.
func Run(ctx context.Context, caller *websocket.Conn, server Server, limits Limits) *End {
	s := &session{Limits: limits, caller: caller, server: server, begun: limits.Now()}
	caller.SetReadLimit(limits.Message)
	server.SetReadLimit(limits.Message)
	// Not the context of the caller: a connection whose context ends is closed without a word.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ends := make(chan *End, 3)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer cancel()
	parts.Go(func() { ends <- s.fromCaller(running) })
	parts.Go(func() { ends <- s.fromServer(running) })
	parts.Go(func() { ends <- s.beat(running) })
	var end *End
	for end == nil {
		select {
		case end = <-ends:
		case <-ctx.Done():
			var told bool
			if end, told = errors.AsType[*End](context.Cause(ctx)); !told {
				end = &End{websocket.StatusGoingAway, "the request has ended"}
			}
		}
	}
	s.close(end)
	return end
}

// close ends both sides. The API server is left first: from here on the caller gets nothing more of it.
func (s *session) close(end *End) {
	// Neither can be told more once it is gone.
	_ = s.server.CloseNow()
	if s.silent.Load() {
		_ = s.caller.CloseNow()
		return
	}
	_ = s.caller.Close(end.Code, end.Reason)
}

// fromCaller passes on what the caller sends.
func (s *session) fromCaller(ctx context.Context) *End {
	var message bytes.Buffer
	for {
		s.reading.Store(max(s.age(), 1))
		kind, err := receive(ctx, s.caller, &message)
		s.reading.Store(0)
		if errors.Is(err, net.ErrClosed) { // not by them: a write to them has run out of time
			return tooSlow()
		}
		if err != nil {
			return s.callerLeft(err)
		}
		if s.Sent != nil {
			s.Sent(message.Bytes())
		}
		if err := s.server.Write(ctx, kind, message.Bytes()); err != nil {
			return serverLeft(err)
		}
	}
}

// fromServer passes on what the API server sends.
func (s *session) fromServer(ctx context.Context) *End {
	var message bytes.Buffer
	for {
		kind, err := receive(ctx, s.server, &message)
		if err != nil {
			return serverLeft(err)
		}
		writing, cancel := context.WithTimeout(ctx, s.Write)
		err = s.caller.Write(writing, kind, message.Bytes())
		cancel()
		if errors.Is(err, net.ErrClosed) && s.reading.Load() > 0 {
			return nil // the reading side knows why
		}
		if err != nil {
			return s.callerLeft(err)
		}
		s.wrote.Store(s.age())
	}
}

// reader is a side that messages are read from.
type reader interface {
	Reader(ctx context.Context) (websocket.MessageType, io.Reader, error)
}

// receive reads one message, as a whole: the API server takes each frame for a message.
func receive(ctx context.Context, from reader, into *bytes.Buffer) (websocket.MessageType, error) {
	if into.Cap() > spare {
		*into = bytes.Buffer{}
	}
	into.Reset()
	kind, content, err := from.Reader(ctx)
	if err != nil {
		return 0, err
	}
	_, err = into.ReadFrom(content)
	return kind, err
}

// beat pings the caller if nothing else is sent to them, and ends when they no longer answer. Where the API server holds up what they have
// sent, their answer waits behind it and tells nothing; that their connection broke is seen by sending then. The API server is not pinged: a ping that it does not take would end the session.
func (s *session) beat(ctx context.Context) *End {
	for {
		if !pause(ctx, s.Heartbeat) {
			return &End{websocket.StatusGoingAway, "the session has ended"}
		}
		asked := s.age()
		if wrote := s.wrote.Load(); wrote > 0 && asked-wrote < int64(s.Heartbeat) {
			continue
		}
		waiting, cancel := context.WithTimeout(ctx, s.Pong)
		err := s.caller.Ping(waiting)
		cancel()
		since := s.reading.Load()
		switch {
		case err == nil || ctx.Err() != nil:
		case since == 0 && isBroken(err): // which the reading side would see, if it read
			s.silent.Store(true)
			return s.callerLeft(err)
		case since > 0 && since <= asked && s.age()-asked >= int64(s.Pong):
			s.silent.Store(true)
			return &End{websocket.StatusPolicyViolation, "the caller did not answer a ping"}
		}
	}
}

// isBroken reports whether a ping could not be sent because the connection broke: not for want of time, nor because it was closed here.
func isBroken(err error) bool {
	return !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, net.ErrClosed)
}

// age returns how long the relay has been running, in nanoseconds.
func (s *session) age() int64 { return int64(s.Now().Sub(s.begun)) }

// pause waits; false if the context ends first.
func pause(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// callerLeft says why nothing can be read from the caller or sent to them.
func (s *session) callerLeft(err error) *End {
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return &End{websocket.StatusMessageTooBig, fmt.Sprintf("a message must not be larger than %d bytes", s.Message)}
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, net.ErrClosed):
		return tooSlow()
	default:
		return &End{websocket.StatusNormalClosure, "the caller has left"}
	}
}

func tooSlow() *End {
	return &End{websocket.StatusPolicyViolation, "the caller did not take a message in time"}
}

// serverLeft says why nothing can be read from the API server or sent to it. It closes a session without a code when it has sent the result.
func serverLeft(err error) *End {
	closed, ok := errors.AsType[websocket.CloseError](err)
	end, told := errors.AsType[*End](err)
	switch {
	case told:
		return end
	case ok && closed.Code != websocket.StatusNoStatusRcvd:
		return &End{closed.Code, closed.Reason}
	case ok:
		return &End{websocket.StatusNormalClosure, ""}
	case errors.Is(err, websocket.ErrMessageTooBig):
		return &End{websocket.StatusMessageTooBig, "the API server sent a message that is too large"}
	default:
		return &End{websocket.StatusInternalError, "the connection to the API server broke"}
	}
}
