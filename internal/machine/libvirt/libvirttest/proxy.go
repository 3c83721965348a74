// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirttest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy is a way to a daemon that can be cut: the daemon goes on, and nobody reaches it.
type Proxy struct {
	path, target string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
}

// NewProxy opens a way to the daemon, which ends with the test.
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

// Mend opens the way again.
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

// Cut ends all connections and takes no more.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.listener.Close() // It may have been cut before.
	for conn := range p.conns {
		_ = conn.Close()
	}
	clear(p.conns)
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
		go p.carry(from, to)
		go p.carry(to, from)
	}
}

// carry copies one way, and ends both when it ends.
func (p *Proxy) carry(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	_ = from.Close()
	_ = to.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, from)
	delete(p.conns, to)
}
