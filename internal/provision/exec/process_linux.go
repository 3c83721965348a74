// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes the supervisor the parent of processes that lose theirs, so that nothing that a tool starts escapes.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// attributes put the tool into a process group of its own, and kill it when the supervisor ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// self identifies this process.
func self() process { return identify(os.Getpid()) }

// identify returns what distinguishes a process from all others that had or will have its number.
func identify(pid int) process {
	started, _ := startTime(pid)
	return process{PID: pid, Started: started, Boot: bootID()}
}

// alive reports whether this very process still exists.
func (p process) alive() bool {
	if p.PID <= 0 || p.Boot != bootID() {
		return false
	}
	started, known := startTime(p.PID)
	return known && started == p.Started
}

// bootID identifies the boot of the machine.
func bootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// The fields of /proc/<pid>/stat after the name, which may contain anything: see proc_pid_stat(5).
const (
	fieldState     = 0
	fieldParent    = 1
	fieldStartTime = 19
)

func stat(pid int) []string {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil
	}
	text := string(raw)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= fieldStartTime {
		return nil
	}
	return fields
}

func startTime(pid int) (uint64, bool) {
	fields := stat(pid)
	if len(fields) == 0 || fields[fieldState] == "Z" {
		return 0, false
	}
	ticks, err := strconv.ParseUint(fields[fieldStartTime], 10, 64)
	return ticks, err == nil
}

// endChildren kills every descendant until there is none: one that is being killed can still start another. Those that have ended and
// were not waited for disappear with the supervisor.
func endChildren() {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for left := descendants(os.Getpid()); len(left) > 0; left = descendants(os.Getpid()) {
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		<-tick.C
	}
}

// descendants returns the live processes below one, without those that only wait to be reaped.
func descendants(root int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields := stat(pid); len(fields) > 0 && fields[fieldState] != "Z" {
			if parent, err := strconv.Atoi(fields[fieldParent]); err == nil {
				children[parent] = append(children[parent], pid)
			}
		}
	}
	var found []int
	for next := []int{root}; len(next) > 0; next = next[1:] {
		found = append(found, children[next[0]]...)
		next = append(next, children[next[0]]...)
	}
	slices.Sort(found)
	return found
}

// Hide keeps the memory and the environment of this process from other processes of its user: from tools, in a Pod or on a machine without
// Landlock. Programs that it starts are not affected.
func Hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
