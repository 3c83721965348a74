// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Fields of /proc/<pid>/stat counted from the state, which is the first after the command in parentheses.
const (
	statState = 0
	statStart = 19
)

// startedAt returns the start in clock ticks since boot, together with the ID of the boot, because every boot counts from 0.
func startedAt(pid int) (string, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return "", os.ErrProcessDone
	}
	if err != nil {
		return "", err
	}
	// The command itself can contain spaces and parentheses, so the fields are counted from the last parenthesis.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) <= statStart {
		return "", fmt.Errorf("cannot read the start of process %d", pid)
	}
	if fields[statState] == "Z" || fields[statState] == "X" {
		return "", os.ErrProcessDone
	}
	boot, err := bootID()
	if err != nil {
		return "", err
	}
	return boot + "/" + fields[statStart], nil
}

// ofAnotherBoot reports whether a process was started in another boot than this one.
func ofAnotherBoot(started string) (bool, error) {
	now, err := bootID()
	if err != nil {
		return false, err
	}
	then, _, _ := strings.Cut(started, "/")
	return then != now, nil
}

// bootID returns an ID that differs for every boot.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}

// Find returns the processes whose working directory is directly below root and has the name of their command, by that
// name. It finds the processes that a killed call has started and not recorded. The comparison of names excludes a shell
// that somebody has opened in such a directory.
func Find(root string) (map[string][]ID, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	found := map[string][]ID{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		dir, err := os.Readlink(filepath.Join("/proc", entry.Name(), "cwd"))
		if err != nil {
			continue // It has ended, or belongs to another user.
		}
		// The kernel adds a mark if the working directory was deleted. The process still counts.
		name, below := strings.CutPrefix(strings.TrimSuffix(dir, " (deleted)"), root+"/")
		if !below || name != command(entry.Name()) {
			continue
		}
		if started, err := startedAt(pid); err == nil {
			found[name] = append(found[name], ID{PID: pid, Started: started})
		}
	}
	return found, nil
}

// command returns the name that a process was started by.
func command(pid string) string {
	raw, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	if err != nil {
		return ""
	}
	path, _, _ := strings.Cut(string(raw), "\x00")
	return filepath.Base(path)
}
