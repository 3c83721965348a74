// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/digitalocean/go-libvirt"
	"github.com/digitalocean/go-libvirt/socket/dialers"

	"github.com/windlass-operator/windlass/internal/machine"
)

const (
	// answerLimit is how long a daemon can take for one answer before it is suspected to hang. The caller's context limits the call itself.
	answerLimit = 2 * time.Minute
	// suspicion is how long a daemon that is suspected to hang can take to tell its version before its connection counts as broken.
	suspicion = 2 * time.Second
)

// wire is a connection that reports its end, which the library does not.
type wire struct {
	net.Conn

	gone chan struct{}
	end  sync.Once
}

// Read implements net.Conn. The library reads all the time, so that it hears of the end first. It closes nothing then, and a login by SSH would
// outlive its channel to the daemon.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if err != nil {
		_ = w.Close() // which does not matter any more
	}
	return n, err
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.end.Do(func() { close(w.gone) })
	return w.Conn.Close()
}

// session is a connection to a daemon that has opened a hypervisor. It does not reconnect.
type session struct {
	api  *libvirt.Libvirt
	wire *wire
	// patience is how long one answer can take. Zero: as long as it takes.
	patience time.Duration

	mu sync.Mutex
	// looks are the domains that are being looked at, each with what is closed at the end of that.
	looks map[libvirt.UUID]chan struct{}
}

// dial makes a session. Wrap changes the connection before it is used.
func (e endpoint) dial(ctx context.Context, wrap ...func(net.Conn) net.Conn) (*session, error) {
	conn, err := e.way.dial(ctx, e.sockets)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", machine.ErrUnreachable, err)
	}
	for _, w := range wrap {
		conn = w(conn)
	}
	w := &wire{Conn: conn, gone: make(chan struct{})}
	s := &session{api: libvirt.NewWithDialer(dialers.NewAlreadyConnected(w)), wire: w, patience: answerLimit, looks: map[libvirt.UUID]chan struct{}{}}
	if err := s.tell(ctx, func(api *libvirt.Libvirt) error { return api.ConnectToURI(libvirt.ConnectURI(e.uri)) }); err != nil {
		s.close()
		return nil, fmt.Errorf("libvirt does not open %s: %w", e.uri, err)
	}
	return s, nil
}

// close ends every call on the session. Domains keep running.
func (s *session) close() { _ = s.wire.Close() } // It may be closed already.

// alive reports whether the connection has not ended, as far as is known.
func (s *session) alive() bool {
	select {
	case <-s.wire.gone:
		return false
	default:
		return true
	}
}

// suspect closes the session unless the daemon answers something else. A call about a domain that hangs has no answer, and must not cut off the calls
// about others.
func (s *session) suspect() {
	limit := time.AfterFunc(suspicion, s.close)
	defer limit.Stop()
	_, _ = s.api.ConnectGetLibVersion() // An error is an answer, too, or the session has ended.
}

// enter waits until nobody else looks at the domain on the session, and keeps others from it until leave is called: a daemon serves only a few calls of one
// connection, and one that hangs gets no further look at the domain.
func (s *session) enter(ctx context.Context, domain libvirt.UUID) (leave func(), err error) {
	for {
		s.mu.Lock()
		busy, taken := s.looks[domain]
		if !taken {
			busy = make(chan struct{})
			s.looks[domain] = busy
		}
		s.mu.Unlock()
		if !taken {
			return func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.looks, domain)
				close(busy)
			}, nil
		}
		select {
		case <-busy:
		case <-s.wire.gone:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// looksAt reports whether somebody looks at the domain on the session.
func (s *session) looksAt(domain libvirt.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, busy := s.looks[domain]
	return busy
}

// ask makes one call on a session and returns when ctx ends. After a deadline the daemon is suspected to hang at once. After a cancellation it still has
// time for its answer.
func ask[T any](ctx context.Context, s *session, do func(*libvirt.Libvirt) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		if s.patience > 0 {
			overdue := time.AfterFunc(s.patience, s.suspect)
			defer overdue.Stop()
		}
		value, err := do(s.api)
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			go s.suspect()
		}
		var none T
		return none, ctx.Err()
	}
}

// tell makes a call without a result.
func (s *session) tell(ctx context.Context, do func(*libvirt.Libvirt) error) error {
	_, err := ask(ctx, s, func(api *libvirt.Libvirt) (struct{}, error) { return struct{}{}, do(api) })
	return err
}

// link is a session that is replaced when it has ended.
type link struct {
	endpoint endpoint
	// lock guards the session. It is a channel because waiting for it ends with a context.
	lock    chan struct{}
	session *session
	closed  bool
}

func newLink(e endpoint) *link { return &link{endpoint: e, lock: make(chan struct{}, 1)} }

// errClosed is the error of a driver that was closed.
var errClosed = errors.New("the driver is closed")

// use returns the session, and makes one if there is none.
func (l *link) use(ctx context.Context) (*session, error) {
	select {
	case l.lock <- struct{}{}:
		defer func() { <-l.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.closed {
		return nil, errClosed
	}
	if l.session != nil && l.session.alive() {
		return l.session, nil
	}
	made, err := l.endpoint.dial(ctx)
	if err != nil {
		return nil, err
	}
	l.session = made
	return made, nil
}

// close closes the session for good.
func (l *link) close() {
	l.lock <- struct{}{}
	defer func() { <-l.lock }()
	l.closed = true
	if l.session != nil {
		l.session.close()
	}
}

// call makes one call on the session of a link.
func call[T any](ctx context.Context, l *link, do func(*libvirt.Libvirt) (T, error)) (T, error) {
	s, err := l.use(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return ask(ctx, s, do)
}

// tell makes a call without a result.
func tell(ctx context.Context, l *link, do func(*libvirt.Libvirt) error) error {
	_, err := call(ctx, l, func(api *libvirt.Libvirt) (struct{}, error) { return struct{}{}, do(api) })
	return err
}
