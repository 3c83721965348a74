// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package dockertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Listen listens on 127.0.0.1 in the network of the engine, which is not that of this process.
func (d *Daemon) Listen(ctx context.Context) (net.Listener, error) {
	var listener net.Listener
	err := d.inside(func() error {
		var err error
		listener, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		return err
	})
	return listener, err
}

// raiseLoopback enables the loopback interface, which is down in a new network.
func (d *Daemon) raiseLoopback() error {
	return d.inside(func() (err error) {
		socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unix.Close(socket)) }()
		request, err := unix.NewIfreq("lo")
		if err != nil {
			return err
		}
		request.SetUint16(unix.IFF_UP)
		return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
	})
}

// inside calls do on a thread in the network of the engine.
func (d *Daemon) inside(do func() error) (err error) {
	network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", d.process.Pid))
	if err != nil {
		return fmt.Errorf("cannot find the engine's network: %w", err)
	}
	defer func() { err = errors.Join(err, network.Close()) }()
	done := make(chan error, 1)
	go func() {
		// The thread is never unlocked, so it ends with this goroutine, and no other goroutine runs on it.
		runtime.LockOSThread()
		err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET)
		if err == nil {
			err = do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		return fmt.Errorf("cannot work in the engine's network: %w", err)
	}
	return nil
}

func dialUnix(path string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
}
