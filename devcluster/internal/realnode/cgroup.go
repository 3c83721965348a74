// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package realnode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// cgroupRoot is the directory at which every distribution mounts cgroups.
const cgroupRoot = "/sys/fs/cgroup"

// unified is a file that only version 2 has: it lists the controllers that can be delegated.
const unified = "cgroup.controllers"

// controllers returns the directories in which a group must be created: one for each mounted controller in version 1, only
// one in version 2.
func controllers(root string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(root, unified)); err == nil {
		return []string{root}, nil
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "cgroup.procs"))
	if err != nil {
		return nil, fmt.Errorf("cannot look for cgroup controllers: %w", err)
	}
	var dirs []string
	for _, file := range files {
		dir := filepath.Dir(file)
		// Links, such as cpu and cpuacct to cpu,cpuacct, lead to the same group.
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return nil, errors.New("no controller is mounted")
	}
	return dirs, nil
}

// CreateCgroups creates the group of all processes that the kubelet starts. The name must not contain slashes.
func CreateCgroups(name string) error {
	dirs, err := controllers(cgroupRoot)
	if err != nil {
		return fmt.Errorf("cannot create cgroup %q: %w", name, err)
	}
	for _, dir := range dirs {
		if err := delegate(dir); err != nil {
			return fmt.Errorf("cannot create cgroup %q: %w", name, err)
		}
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("cannot create cgroup %q: %w", name, err)
		}
	}
	return nil
}

// delegate enables the controllers that the kubelet needs for the groups below a directory of version 2. Version 1 has no
// delegation.
func delegate(dir string) error {
	available, err := os.ReadFile(filepath.Join(dir, unified))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for controller := range strings.FieldsSeq(string(available)) {
		if !slices.Contains([]string{"cpu", "cpuset", "memory", "pids"}, controller) {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o600); err != nil {
			return fmt.Errorf("cannot delegate controller %q: %w", controller, err)
		}
	}
	return nil
}

// RemoveCgroups removes the group and all groups below it. Their processes must have ended. It succeeds if the group does
// not exist.
func RemoveCgroups(ctx context.Context, name string) error {
	dirs, err := controllers(cgroupRoot)
	if err != nil {
		return nil //nolint:nilerr // Without cgroups there are none to remove.
	}
	for _, dir := range dirs {
		if err := removeGroup(ctx, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("cannot remove cgroup %q: %w", filepath.Join(dir, name), err)
		}
	}
	return nil
}

// removeGroup removes groups from the leaves up. The kernel removes the files in them.
func removeGroup(ctx context.Context, group string) error {
	var groups []string
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			groups = append(groups, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Backward(groups) {
		if err := removeWhenIdle(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// removeWhenIdle waits until the kernel releases the group, which takes a moment after its last process has ended.
func removeWhenIdle(ctx context.Context, path string) error {
	const patience = 10 * time.Second
	deadline, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Rmdir(path)
		if err == nil || errors.Is(err, syscall.ENOENT) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) {
			return err
		}
		select {
		case <-deadline.Done():
			return err
		case <-tick.C:
		}
	}
}
