// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

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

// usage is the CPU time that processes have used, by name.
type usage map[string]time.Duration

// readUsage reads the CPU time of the named processes.
func readUsage(pids map[string]int) usage {
	used := usage{}
	for name, pid := range pids {
		used[name] = rig.CPUTime(pid)
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
