// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU time in /proc, which is the same on all architectures that Linux runs on today.
const tick = 10 * time.Millisecond

// CPUTime returns how much CPU time a process has used; zero where there is no /proc.
func CPUTime(pid int) time.Duration {
	fields, err := stat(pid)
	if err != nil {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// Child returns the process id of the child of this process that runs a program of that name; zero if there is none.
func Child(name string) int {
	self := strconv.Itoa(os.Getpid())
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields, err := stat(pid); err != nil || fields[1] != self {
			continue
		}
		command, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		program, _, _ := strings.Cut(string(command), "\x00")
		if err == nil && filepath.Base(program) == name {
			return pid
		}
	}
	return 0
}

// stat returns the fields of /proc/<pid>/stat after the name, which may itself contain blanks: the first is the state.
func stat(pid int) ([]string, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil, err
	}
	end := bytes.LastIndexByte(raw, ')')
	fields := strings.Fields(string(raw[end+1:]))
	if end < 0 || len(fields) < 13 {
		return nil, fmt.Errorf("cannot read the state of process %d: %q", pid, raw)
	}
	return fields, nil
}
