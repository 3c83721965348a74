// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package dockertest

import (
	"context"
	"net"

	"github.com/windlass-operator/windlass/internal/testkit/netns"
)

// Listen listens on 127.0.0.1 in the network of the engine, which is not that of this process.
func (d *Daemon) Listen(ctx context.Context) (net.Listener, error) {
	var listener net.Listener
	err := netns.Inside(d.process.Pid, func() error {
		var err error
		listener, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		return err
	})
	return listener, err
}

// DialFrom connects to the TCP address from the network of a process, which the engine numbers.
func (d *Daemon) DialFrom(ctx context.Context, pid int, address string) (net.Conn, error) {
	var conn net.Conn
	err := netns.InsideNumbered(d.process.Pid, pid, func() error {
		var err error
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", address)
		return err
	})
	return conn, err
}

func dialUnix(path string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
}
