// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package process

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// startedAt calls ps, which every Unix has. The answer does not change during the life of a process.
func startedAt(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // because a truncated answer would make a running process look ended
	if err != nil {
		return "", os.ErrProcessDone
	}
	state, started, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if state == "" || strings.HasPrefix(state, "Z") {
		return "", os.ErrProcessDone
	}
	return strings.TrimSpace(started), nil
}

// Find finds nothing: outside Linux there are only the records.
func Find(string) (map[string][]ID, error) {
	return nil, nil
}
