// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirttest

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/windlass-operator/windlass/internal/testkit/netns"
)

// Option changes how a daemon is started.
type Option func(*Daemon)

// Listening has the daemon listen for TLS and TCP in its own network, with certificates of its own authority.
func Listening(d *Daemon) { d.listens = true }

// The ports of a daemon that listens.
const (
	PortTLS = "16514"
	PortTCP = "16509"
)

// Forward listens on 127.0.0.1 of this machine, forwards connections to the port in the network of the daemon, and returns the
// address. It ends with the test.
func (d *Daemon) Forward(tb testing.TB, port string) string {
	tb.Helper()
	if err := netns.RaiseLoopback(d.process.Pid); err != nil {
		tb.Fatal(err)
	}
	return serve(tb, func(ctx context.Context, from net.Conn) {
		var to net.Conn
		if err := netns.Inside(d.process.Pid, func() (err error) {
			to, err = new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
			return err
		}); err == nil {
			join(from, to)
		}
	})
}

// serve listens on 127.0.0.1 until the test ends, and handles and closes each connection.
func serve(tb testing.TB, handle func(context.Context, net.Conn)) (address string) {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx := tb.Context()
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { _ = conn.Close() })
			go func() {
				defer func() { _ = conn.Close() }()
				handle(ctx, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// join copies in both directions until one side ends, and closes both.
func join(a, b io.ReadWriteCloser) {
	done := make(chan struct{}, 2)
	for _, pair := range [][2]io.ReadWriteCloser{{a, b}, {b, a}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done
	_, _ = a.Close(), b.Close()
}
