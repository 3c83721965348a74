// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// nodeInit prepares the new mount and process namespaces that it was started in, and stays as their first process: when it
// ends for any reason, the kernel ends everything in them and removes all mounts.
//
// Its arguments are the directories that the node has as /var/lib and /var/log.
func nodeInit(args []string) error {
	if len(args) != 2 || os.Getpid() != 1 {
		return errors.New("not the first process of a node's namespaces, or not called with two directories: start it with 'devcluster up --real-node'")
	}
	ended := terminations()
	if err := furnish(args[0], args[1]); err != nil {
		return err
	}
	if err := os.WriteFile("/run/node-ready", nil, 0o600); err != nil {
		return fmt.Errorf("cannot report that the mounts of the node are ready: %w", err)
	}
	reapUntil(ended)
	return nil
}

// furnish mounts what kubelet and containerd expect at paths that cannot be configured. Only the processes of this node
// see the mounts.
func furnish(lib, log string) error {
	mounts := []struct {
		source, target, kind string
		flags                uintptr
	}{
		// Mounts from here on must not propagate to the machine.
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE},
		{"proc", "/proc", "proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
		{lib, "/var/lib", "", unix.MS_BIND},
		{log, "/var/log", "", unix.MS_BIND},
		{"tmpfs", "/run", "tmpfs", unix.MS_NOSUID | unix.MS_NODEV},
	}
	for _, m := range mounts {
		if err := unix.Mount(m.source, m.target, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("cannot mount %q: %w", m.target, err)
		}
	}
	if err := shadowSettings(); err != nil {
		return err
	}
	// Volumes with mount propagation need a tree that propagates, but only within this namespace.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("cannot make mounts propagate within the node: %w", err)
	}
	return nil
}

// shadowSettings mounts files over the kernel settings that kubelet and CNI plugins change for the whole machine: they
// read and write the files, and the settings of the machine do not change.
func shadowSettings() error {
	const shadows = "/run/node-settings"
	for _, setting := range []string{
		"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
		"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes", "net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding",
	} {
		path := filepath.Join("/proc/sys", setting)
		value, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot read kernel setting %q: %w", setting, err)
		}
		shadow := filepath.Join(shadows, strings.ReplaceAll(setting, "/", "."))
		if err := os.MkdirAll(shadows, 0o700); err != nil {
			return fmt.Errorf("cannot create directory %q: %w", shadows, err)
		}
		if err := os.WriteFile(shadow, value, 0o600); err != nil {
			return fmt.Errorf("cannot copy kernel setting %q: %w", setting, err)
		}
		if err := unix.Mount(shadow, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("cannot shadow kernel setting %q: %w", setting, err)
		}
	}
	return nil
}

// terminations must be called before anything else: the kernel delivers to a first process only signals that it has a
// handler for.
func terminations() <-chan os.Signal {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	return ended
}

// pause is the pause program: its process keeps the namespaces of the pod.
func pause() { reapUntil(terminations()) }

// reapUntil reaps the zombies that a first process inherits, until it receives a signal to end.
func reapUntil(ended <-chan os.Signal) {
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	for {
		for {
			// One signal can stand for several children.
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if pid <= 0 && !errors.Is(err, unix.EINTR) {
				break
			}
		}
		select {
		case <-ended:
			return
		case <-children:
		}
	}
}
