// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Fields of /proc/<pid>/stat counted from the state, which is the first after the command in parentheses.
const (
	statState = 0
	statStart = 19
)

// startedAt is the start in clock ticks since boot together with the boot's id, since the ticks begin anew with it.
func startedAt(pid int) (string, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return "", err
	}
	// The command may hold spaces and parentheses itself, so fields count from the last one.
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

// bootID differs from one boot to the next.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}

// Find returns the processes that work in a directory right below root and are called like that directory, by that
// name. It finds what a call that was killed had started and not yet written down; the name keeps it from taking a
// shell that somebody has opened in that directory for one of them.
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
			continue // Ended, or another user's.
		}
		// The kernel marks a directory that was deleted under the process; the process is still the one looked for.
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

// command is the name that a process was called by.
func command(pid string) string {
	raw, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	if err != nil {
		return ""
	}
	path, _, _ := strings.Cut(string(raw), "\x00")
	return filepath.Base(path)
}
