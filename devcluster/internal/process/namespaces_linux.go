// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// launch starts a command in the namespaces that its Spec asks for.
func launch(cmd *exec.Cmd, spec Spec) error {
	if spec.Namespaces {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
	}
	if spec.Join.PID == 0 {
		return cmd.Start()
	}
	result := make(chan error)
	go func() {
		// The thread that enters the namespaces is never unlocked: Go ends it with this goroutine.
		runtime.LockOSThread()
		if err := enter(spec.Join); err != nil {
			result <- err
			return
		}
		result <- cmd.Start()
	}()
	return <-result
}

// enter moves this thread into the mount namespace of a process, and its future children also into the process namespace.
func enter(id ID) error {
	process, err := unix.PidfdOpen(id.PID, 0)
	if err != nil {
		return fmt.Errorf("cannot open process %d: %w", id.PID, err)
	}
	// The file is only read, so an error of Close does not matter.
	defer func() { _ = unix.Close(process) }()
	// Checked after opening: from here on the ID cannot be reused.
	alive, err := id.Alive()
	if err != nil {
		return err
	}
	if !alive {
		return fmt.Errorf("process %d has ended", id.PID)
	}
	// A thread that shares its working directory with others may not change the mount namespace.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("cannot leave the working directory that the threads share: %w", err)
	}
	if err := unix.Setns(process, unix.CLONE_NEWNS|unix.CLONE_NEWPID); err != nil {
		return fmt.Errorf("cannot enter the namespaces of process %d: %w", id.PID, err)
	}
	return nil
}
