// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

// pair returns the ends of a WebSocket. The client counts its pings and answers none.
func pair(t *testing.T) (server, client *websocket.Conn, pings *atomic.Int64) {
	t.Helper()
	accepted := make(chan *websocket.Conn)
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
		}
		accepted <- socket
	}))
	t.Cleanup(listening.Close)
	pings = &atomic.Int64{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server = <-accepted
	}()
	client, _, err := websocket.Dial(t.Context(), listening.URL, &websocket.DialOptions{ //nolint:bodyclose // because the body is the connection of the WebSocket
		OnPingReceived: func(context.Context, []byte) bool {
			pings.Add(1)
			return false
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	for _, socket := range []*websocket.Conn{server, client} {
		socket.SetReadLimit(-1)
		t.Cleanup(func() { _ = socket.CloseNow() })
	}
	return server, client, pings
}

// stage is a relay that runs between a caller and a program.
type stage struct {
	caller, program *websocket.Conn
	// pings are those of the caller.
	pings *atomic.Int64
	// stop ends the relay.
	stop context.CancelCauseFunc
	end  <-chan *End
}

func run(t *testing.T, limits Limits) *stage {
	t.Helper()
	near, caller, pings := pair(t)
	program, far, _ := pair(t)
	ctx, stop := context.WithCancelCause(t.Context())
	end := make(chan *End, 1)
	go func() { end <- Run(ctx, near, far, limits) }()
	return &stage{caller: caller, program: program, pings: pings, stop: stop, end: end}
}

// generous are limits that no test meets.
func generous() Limits {
	return Limits{Message: 1 << 20, Write: time.Hour, Heartbeat: time.Hour, Pong: time.Hour, Now: time.Now}
}

// drain reads until the WebSocket is closed, and returns how much came.
func drain(t *testing.T, from *websocket.Conn) (size int, err error) {
	t.Helper()
	for {
		_, message, err := from.Read(t.Context())
		if err != nil {
			return size, err
		}
		size += len(message)
	}
}

func TestBothSidesLearnHowItEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits Limits
		act    func(t *testing.T, s *stage)
		want   *End
		// told is the code that the caller gets: -1 for one who has gone without a word.
		told websocket.StatusCode
	}{
		"the program ends": {generous(), func(t *testing.T, s *stage) {
			t.Helper()
			go func() { _ = s.program.Close(4001, "over") }()
		}, &End{4001, "over"}, 4001},
		"the connection to the program breaks": {generous(), func(t *testing.T, s *stage) {
			t.Helper()
			_ = s.program.CloseNow()
		}, &End{websocket.StatusInternalError, "the connection to the API server broke"}, websocket.StatusInternalError},
		"the program sends too much at once": {generous(), func(t *testing.T, s *stage) {
			t.Helper()
			go func() { _ = s.program.Write(t.Context(), websocket.MessageBinary, make([]byte, 1<<20+1)) }()
		}, &End{websocket.StatusMessageTooBig, "the API server sent a message that is too large"}, websocket.StatusMessageTooBig},
		"the caller closes": {generous(), func(t *testing.T, s *stage) {
			t.Helper()
			_ = s.caller.Close(websocket.StatusNormalClosure, "")
		}, &End{websocket.StatusNormalClosure, "the caller has left"}, -1},
		"the caller breaks off": {generous(), func(t *testing.T, s *stage) {
			t.Helper()
			_ = s.caller.CloseNow()
		}, &End{websocket.StatusNormalClosure, "the caller has left"}, -1},
		"it is ended from outside": {generous(), func(t *testing.T, s *stage) {
			t.Helper()
			s.stop(&End{websocket.StatusPolicyViolation, "not allowed"})
		}, &End{websocket.StatusPolicyViolation, "not allowed"}, websocket.StatusPolicyViolation},
		"the request ends": {generous(), func(t *testing.T, s *stage) {
			t.Helper()
			s.stop(nil)
		}, &End{websocket.StatusGoingAway, "the request has ended"}, websocket.StatusGoingAway},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := run(t, c.limits)
			c.act(t, s)
			_, err := drain(t, s.caller)
			if got := websocket.CloseStatus(err); got != c.told {
				t.Errorf("the caller is told %d, want %d: %v", got, c.told, err)
			}
			if diff := cmp.Diff(c.want, <-s.end); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := drain(t, s.program); err == nil {
				t.Error("the program is not told")
			}
		})
	}
}

// TestAttackACallerWhoDoesNotRead has a program that writes without end.
func TestAttackACallerWhoDoesNotRead(t *testing.T) {
	t.Parallel()
	limits := generous()
	limits.Write = 100 * time.Millisecond
	s := run(t, limits)
	for message := make([]byte, 32<<10); ; {
		if err := s.program.Write(t.Context(), websocket.MessageBinary, message); err != nil {
			break
		}
	}
	want := &End{websocket.StatusPolicyViolation, "the caller did not take a message in time"}
	if diff := cmp.Diff(want, <-s.end); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAttackACallerWhoIsGone has a caller whose machine has vanished: nothing comes, and nothing breaks.
func TestAttackACallerWhoIsGone(t *testing.T) {
	t.Parallel()
	limits := generous()
	limits.Heartbeat, limits.Pong = 10*time.Millisecond, 50*time.Millisecond
	s := run(t, limits) // whose caller does not read, and so answers no ping
	want := &End{websocket.StatusPolicyViolation, "the caller did not answer a ping"}
	if diff := cmp.Diff(want, <-s.end); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCallersWaitForPrograms has a program that does not read what it was sent for longer than a caller may take to answer: an answer
// would be behind it.
func TestCallersWaitForPrograms(t *testing.T) {
	t.Parallel()
	limits := generous()
	limits.Heartbeat, limits.Pong = 10*time.Millisecond, 3*time.Second // which a busy machine does not take for a ping
	s := run(t, limits)
	go func() { _, _ = drain(t, s.caller) }()
	const messages, size = 1000, 32 << 10
	sent := make(chan error, 1)
	go func() {
		for range messages {
			if err := s.caller.Write(t.Context(), websocket.MessageBinary, make([]byte, size)); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for s.pings.Load() < 3 {
		select {
		case end := <-s.end:
			t.Fatalf("it ends: %v", end)
		case err := <-sent:
			t.Fatalf("what nobody reads is sent: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	got := 0
	for range messages {
		_, message, err := s.program.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got += len(message)
	}
	if err := <-sent; err != nil || got != messages*size {
		t.Errorf("%d bytes arrive: %v", got, err)
	}
}

// TestACallerWhoLeavesWhileTheProgramDoesNotRead has sent more than the program takes. Nobody reads from them then, so only what is sent to them tells
// that they are gone: such a session went on until the program read again.
func TestACallerWhoLeavesWhileTheProgramDoesNotRead(t *testing.T) {
	t.Parallel()
	limits := generous()
	limits.Heartbeat, limits.Pong = 50*time.Millisecond, 100*time.Millisecond
	s := run(t, limits)
	go func() { _, _ = drain(t, s.caller) }()
	for { // until everything on the way is full
		writing, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := s.caller.Write(writing, websocket.MessageBinary, make([]byte, 32<<10))
		cancel()
		if err != nil {
			break
		}
	}
	_ = s.caller.CloseNow()
	want := &End{websocket.StatusNormalClosure, "the caller has left"}
	select {
	case got := <-s.end:
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}
