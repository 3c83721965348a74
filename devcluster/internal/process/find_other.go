// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// startedAt calls ps, which every Unix has. The answer does not change during the life of a process, nor with the time zone
// and the language of the caller, in which ps writes a time.
func startedAt(pid int) (string, error) {
	cmd := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)) //nolint:noctx // because a truncated answer would make a running process look ended
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	out, err := cmd.Output()
	if _, answered := errors.AsType[*exec.ExitError](err); answered {
		return "", os.ErrProcessDone
	}
	if err != nil {
		return "", fmt.Errorf("cannot ask ps for process %d: %w", pid, err)
	}
	state, started, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if state == "" || strings.HasPrefix(state, "Z") {
		return "", os.ErrProcessDone
	}
	return strings.TrimSpace(started), nil
}

// ofAnotherBoot knows nothing of boots: outside Linux a start is a time.
func ofAnotherBoot(string) (bool, error) { return false, nil }

// Find finds nothing: outside Linux there are only the records.
func Find(string) (map[string][]ID, error) {
	return nil, nil
}
