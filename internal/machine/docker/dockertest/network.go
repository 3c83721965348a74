// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package dockertest

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Listen listens on the loopback address of the engine, which is not this process's: what is served there is what the engine finds at
// 127.0.0.1.
func (d *Daemon) Listen(ctx context.Context) (net.Listener, error) {
	var listener net.Listener
	err := d.inside(func() error {
		var err error
		listener, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		return err
	})
	return listener, err
}

// raiseLoopback turns the loopback interface on, which is off in a new network.
func (d *Daemon) raiseLoopback() error {
	return d.inside(func() error {
		socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(socket) //nolint:errcheck // because nothing was written
		request, err := unix.NewIfreq("lo")
		if err != nil {
			return err
		}
		request.SetUint16(unix.IFF_UP)
		return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
	})
}

// inside calls do on a thread that is in the engine's network.
func (d *Daemon) inside(do func() error) error {
	network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", d.process.Pid))
	if err != nil {
		return fmt.Errorf("cannot find the engine's network: %w", err)
	}
	defer network.Close() //nolint:errcheck // because it is only a name
	done := make(chan error, 1)
	go func() {
		// The thread is never unlocked: it ends with this goroutine, and nobody else gets it.
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
