// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package dockertest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// prefix of the names of everything that an engine leaves behind if it is not closed. The process ID follows.
const prefix = "dockertest-"

// sweep removes what engines left behind whose process died without closing them. It ignores what it cannot remove.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
		groups, _ := filepath.Glob(pattern + prefix + "*")
		left = append(left, groups...)
	}
	for _, path := range left {
		name := filepath.Base(path)
		owner, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "-")
		if _, err := os.Stat(filepath.Join("/proc", owner)); owner == "" || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if strings.HasPrefix(path, "/sys/") {
			thaw(name)
			_ = removeGroups(name)
		} else {
			_ = os.RemoveAll(path)
		}
	}
}

// thaw resumes all containers of an engine. In the first version of control groups a process that is suspended cannot even be killed, and
// its end would never come.
func thaw(name string) {
	states, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup/freezer", name, "*", "freezer.state"))
	for _, state := range states {
		_ = os.WriteFile(state, []byte("THAWED"), 0) // fails if the container is gone
	}
}

// removeGroups removes the empty control groups of a killed engine, the inner ones first.
func removeGroups(name string) error {
	roots := []string{filepath.Join("/sys/fs/cgroup", name)}
	named, err := filepath.Glob(filepath.Join("/sys/fs/cgroup/*", name))
	if err != nil {
		return fmt.Errorf("cannot list control groups: %w", err)
	}
	var errs []error
	for _, root := range append(roots, named...) {
		inner, err := filepath.Glob(filepath.Join(root, "*", "cgroup.procs"))
		errs = append(errs, err)
		for _, procs := range inner {
			errs = append(errs, removeGroup(filepath.Dir(procs)))
		}
		errs = append(errs, removeGroup(root))
	}
	return errors.Join(errs...)
}

func removeGroup(path string) error {
	if err := syscall.Rmdir(path); err != nil && !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("cannot remove control group %q: %w", path, err)
	}
	return nil
}
