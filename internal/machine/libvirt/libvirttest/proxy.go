// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirttest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy forwards connections to a daemon and can be cut: the daemon keeps running, but cannot be reached.
type Proxy struct {
	path, target string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	hold     *hold
	holdCall *hold
	// lost and cut are numbers of procedures, 0 for none. The next answer of lost is replaced by an error. The next stream of cut ends
	// before its data.
	lost, cut uint32
	// swallowed is the procedure whose calls do not arrive if they have the text in them.
	swallowed uint32
	text      []byte
}

// hold is a delayed call, or a delayed answer.
type hold struct {
	procedure     uint32
	held, release chan struct{}
	once          sync.Once
}

// NewProxy starts a proxy, which ends with the test.
func NewProxy(tb testing.TB, d *Daemon) *Proxy {
	tb.Helper()
	p := &Proxy{path: d.Path("way"), target: d.Socket(), conns: map[net.Conn]bool{}}
	if err := p.Mend(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.Cut)
	return p
}

// Socket is the path of the proxy's socket.
func (p *Proxy) Socket() string { return p.path }

// Mend accepts connections again.
func (p *Proxy) Mend() error {
	listener, err := net.Listen("unix", p.path) //nolint:noctx // because it is a file
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.listener = listener
	p.mu.Unlock()
	go p.serve(listener)
	return nil
}

// Cut ends all connections and accepts no more.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listener.Close() // It may be closed already.
	for conn := range p.conns {
		_ = conn.Close()
	}
	clear(p.conns)
}

// Hold delays the daemon's next answer to a call of the procedure, and everything after it on the same connection. The channel is closed when the
// answer has arrived at the proxy; release forwards it.
func (p *Proxy) Hold(procedure uint32) (held <-chan struct{}, release func()) {
	return p.delay(&p.hold, procedure)
}

// HoldCall delays the next call of the procedure, and everything after it on the same connection. The daemon has not seen it when the channel is
// closed, and gets it after the release also from a caller that has gone.
func (p *Proxy) HoldCall(procedure uint32) (held <-chan struct{}, release func()) {
	return p.delay(&p.holdCall, procedure)
}

func (p *Proxy) delay(where **hold, procedure uint32) (held <-chan struct{}, release func()) {
	h := &hold{procedure: procedure, held: make(chan struct{}), release: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	*where = h
	return h.held, func() { h.once.Do(func() { close(h.release) }) }
}

// Lose replaces the daemon's next answer to a call of the procedure by an internal error. The call has taken effect.
func (p *Proxy) Lose(procedure uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = procedure
}

// CutStream ends the next stream that the procedure opens before its data, as libvirt sometimes does.
func (p *Proxy) CutStream(procedure uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = procedure
}

// Swallow keeps every call of the procedure that has the text in it from the daemon, so that it is never answered, like one about a domain that hangs.
func (p *Proxy) Swallow(procedure uint32, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swallowed, p.text = procedure, text
}

func (p *Proxy) serve(listener net.Listener) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("unix", p.target) //nolint:noctx // because it is a file
		if err != nil {
			_ = from.Close()
			continue
		}
		p.mu.Lock()
		p.conns[from], p.conns[to] = true, true
		p.mu.Unlock()
		go p.carry(from, to, p.copyCalls)
		go p.carry(to, from, p.copyAnswers)
	}
}

// served is how many calls of one connection a daemon serves at a time: max_client_requests in its configuration.
const served = 5

// copyCalls copies what a caller sends, message by message. Those that are never answered keep the later ones of their connection waiting, as a daemon does.
func (p *Proxy) copyCalls(to io.Writer, from io.Reader) (int64, error) {
	unanswered := 0
	return p.copyMessages(to, from, func(procedure uint32, call io.Reader) (io.Reader, error) {
		p.await(&p.holdCall, procedure)
		text := p.swallows(procedure)
		if text == nil && unanswered < served {
			return call, nil
		}
		whole, err := io.ReadAll(call)
		switch {
		case unanswered == served:
			whole = nil
		case text != nil && bytes.Contains(whole, text):
			unanswered++
			whole = nil
		}
		return bytes.NewReader(whole), err
	})
}

// swallows returns the text for which calls of the procedure are swallowed, nil if none are.
func (p *Proxy) swallows(procedure uint32) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.swallowed == 0 || p.swallowed != procedure {
		return nil
	}
	return p.text
}

// copyAnswers copies what a daemon sends, message by message.
func (p *Proxy) copyAnswers(to io.Writer, from io.Reader) (int64, error) {
	return p.copyMessages(to, from, func(procedure uint32, answer io.Reader) (io.Reader, error) {
		p.await(&p.hold, procedure)
		whole, err := io.ReadAll(answer)
		if err != nil || len(whole) < headerBytes { // cut in the middle
			return bytes.NewReader(whole), err
		}
		switch {
		case p.is(&p.lost, procedure):
			whole = failed(whole)
		case binary.BigEndian.Uint32(whole[16:]) == typeStream && p.is(&p.cut, procedure):
			whole = whole[:headerBytes]
			binary.BigEndian.PutUint32(whole, headerBytes)
		}
		return bytes.NewReader(whole), nil
	})
}

// What a message begins with: a header of numbers of four bytes, of which the fifth is the type and the last the status.
const (
	headerBytes = 28
	typeStream  = 3
)

// copyMessages copies messages one by one, as they leave a change. A message begins with its length; its fourth number is the procedure.
func (p *Proxy) copyMessages(to io.Writer, from io.Reader, change func(uint32, io.Reader) (io.Reader, error)) (int64, error) {
	head := make([]byte, 16)
	for total := int64(0); ; {
		if _, err := io.ReadFull(from, head); err != nil {
			return total, err
		}
		rest := io.LimitReader(from, int64(binary.BigEndian.Uint32(head))-int64(len(head)))
		message, err := change(binary.BigEndian.Uint32(head[12:]), io.MultiReader(bytes.NewReader(head), rest))
		if err != nil {
			return total, err
		}
		n, err := io.Copy(to, message)
		if total += n; err != nil {
			return total, err
		}
	}
}

// await delays what is held.
func (p *Proxy) await(where **hold, procedure uint32) {
	p.mu.Lock()
	h := *where
	if h == nil || h.procedure != procedure {
		p.mu.Unlock()
		return
	}
	*where = nil
	p.mu.Unlock()
	close(h.held)
	<-h.release
}

// is reports whether the procedure is the one that something was to happen to, which happens once.
func (p *Proxy) is(it *uint32, procedure uint32) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *it == 0 || *it != procedure {
		return false
	}
	*it = 0
	return true
}

// failed returns the answer that says, in place of another one, that the call has failed: the header, then a code, its source, an optional text, a
// level, and seven values that are left out or zero.
func failed(answer []byte) []byte {
	const refused, internalError, text, level = 1, 1, "lost", 2
	out := bytes.Clone(answer[:headerBytes])
	binary.BigEndian.PutUint32(out[headerBytes-4:], refused)
	for _, number := range []uint32{internalError, 0, 1, uint32(len(text))} {
		out = binary.BigEndian.AppendUint32(out, number)
	}
	out = append(out, text...)
	out = binary.BigEndian.AppendUint32(out, level)
	out = append(out, make([]byte, 7*4)...)
	binary.BigEndian.PutUint32(out, uint32(len(out))) //nolint:gosec // it is short
	return out
}

// carry copies in one direction, and closes both connections at the end.
func (p *Proxy) carry(from, to net.Conn, send func(io.Writer, io.Reader) (int64, error)) {
	_, _ = send(to, from)
	_ = from.Close()
	_ = to.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, from)
	delete(p.conns, to)
}
