// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package netns works in the networks of daemons that tests start in namespaces of their own.
package netns

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Inside calls do on a thread in the network of the process. A socket that do makes stays there, also when other threads use it.
func Inside(pid int, do func() error) error {
	return within(fmt.Sprintf("/proc/%d", pid), do)
}

// InsideNumbered is Inside for a process by the number that another process, in a PID namespace of its own, sees it under.
func InsideNumbered(pid, number int, do func() error) error {
	return within(fmt.Sprintf("/proc/%d/root/proc/%d", pid, number), do)
}

// within calls do in the network of the process with that directory.
func within(process string, do func() error) (err error) {
	network, err := os.Open(process + "/ns/net")
	if err != nil {
		return fmt.Errorf("cannot find the network of %s: %w", process, err)
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
		return fmt.Errorf("cannot work in the network of %s: %w", process, err)
	}
	return nil
}

// RaiseLoopback enables the loopback interface, which is down in a new network.
func RaiseLoopback(pid int) error {
	return Inside(pid, func() (err error) {
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
