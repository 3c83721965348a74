// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

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

// cpuTime returns how much CPU time a process has used; zero where there is no /proc.
func cpuTime(pid int) time.Duration {
	fields, err := stat(pid)
	if err != nil {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// resident returns how much memory a process has, and has had at most, in MiB; zero where there is no /proc.
func resident(pid int) (now, peak float64) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseFloat(fields[1], 64)
		switch fields[0] {
		case "VmRSS:":
			now = kib / 1024
		case "VmHWM:":
			peak = kib / 1024
		}
	}
	return now, peak
}

// child returns the process id of the child of this process that runs a program of that name; zero if there is none.
func child(name string) int {
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

// usage is the CPU time that processes have used, by name.
type usage map[string]time.Duration

// readUsage reads the CPU time of the named processes.
func readUsage(pids map[string]int) usage {
	used := usage{}
	for name, pid := range pids {
		used[name] = cpuTime(pid)
	}
	return used
}

// per returns what a process has used since, in milliseconds per operation.
func (u usage) per(since usage, name string, operations int) float64 {
	if operations == 0 {
		return 0
	}
	return float64(u[name]-since[name]) / float64(time.Millisecond) / float64(operations)
}
