// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net"
	"net/netip"
	"sync"
)

// boundedListener accepts a bounded number of connections from each address, so that one client cannot use up all of them.
type boundedListener struct {
	net.Listener

	limit int
	mu    sync.Mutex
	open  map[string]int
}

// bound returns the listener with a limit of connections for each address; 0 is no limit.
func bound(listener net.Listener, limit int) net.Listener {
	if limit <= 0 {
		return listener
	}
	return &boundedListener{Listener: listener, limit: limit, open: map[string]int{}}
}

// Accept implements net.Listener. It closes connections that are over the limit.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := origin(conn.RemoteAddr())
		if l.enter(from) {
			return &boundedConn{Conn: conn, leave: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		_ = conn.Close() // a client over its limit gets no answer
	}
}

func (l *boundedListener) enter(from string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from] >= l.limit {
		return false
	}
	l.open[from]++
	return true
}

func (l *boundedListener) leave(from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from]--; l.open[from] == 0 {
		delete(l.open, from)
	}
}

// boundedConn is a connection that counts until it is closed.
type boundedConn struct {
	net.Conn

	leave func()
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	c.leave()
	return c.Conn.Close()
}

// origin returns who a connection counts for: an address of IPv4, or a network of IPv6, all of which one client usually has.
func origin(address net.Addr) string {
	from, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return address.String()
	}
	host := from.Addr().Unmap().WithZone("")
	if host.Is4() {
		return host.String()
	}
	return netip.PrefixFrom(host, 64).Masked().String()
}
