// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package dockertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Crash kills the engine, but neither its containers nor what it was just making of them, like the out-of-memory killer. It
// returns when the engine runs again. On a slow machine that can take more than one attempt: the engine exits if its containerd is
// not ready within 15 seconds, and relies on being started again.
func (d *Daemon) Crash(ctx context.Context) error {
	engines, err := d.processes("dockerd")
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.path("again"), nil, 0o600); err != nil {
		return fmt.Errorf("cannot have the engine started again: %w", err)
	}
	for _, pid := range engines {
		err = errors.Join(err, syscall.Kill(pid, syscall.SIGKILL))
	}
	if err != nil {
		return fmt.Errorf("cannot kill dockerd: %w", err)
	}
	for _, pid := range engines {
		for syscall.Kill(pid, 0) == nil { // the engine that is dying must not be taken for the next one
			<-time.After(time.Millisecond)
		}
	}
	if err := d.awaitReady(ctx); err != nil {
		return err
	}
	if err := os.Remove(d.path("again")); err != nil {
		return fmt.Errorf("cannot let the engine end: %w", err)
	}
	return nil
}

// Lose makes the engine forget that it was starting the container, as a crash in the middle does: the next start fails, because
// there is something with the container's ID already.
func (d *Daemon) Lose(container string) error {
	const tasks = "run/docker/containerd/daemon/io.containerd.runtime.v2.task/moby"
	bundle := filepath.Join("/proc", strconv.Itoa(d.process.Pid), "root", tasks, container)
	if err := os.MkdirAll(bundle, 0o700); err != nil {
		return fmt.Errorf("cannot leave a task of container %.12q: %w", container, err)
	}
	return nil
}

// processes returns the processes of the engine and its containers with the name.
func (d *Daemon) processes(name string) ([]int, error) {
	found, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	var out []int
	for _, path := range found {
		comm, err := os.ReadFile(path)
		pid, numberErr := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if errors.Join(err, numberErr) == nil && strings.TrimSpace(string(comm)) == name && d.descends(pid) {
			out = append(out, pid)
		}
	}
	return out, nil
}

// descends reports whether the process is a descendant of the first process of the engine's namespace.
func (d *Daemon) descends(pid int) bool {
	for pid > 1 && pid != d.process.Pid {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false // it has ended
		}
		// pid (name) state parent …, and a name can contain parentheses.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(string(fields[1])); err != nil {
			return false
		}
	}
	return pid == d.process.Pid
}
