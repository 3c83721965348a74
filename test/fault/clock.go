// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// skew is how wrong a clock is: more than anything waits for, and what a wrong time zone makes of it.
const skew = time.Hour

// skewVariable is how a manager learns how wrong its clock is, in seconds.
const skewVariable = "WINDLASS_FAULT_CLOCK_SKEW"

// skewSource is the part of package time that reads it.
const skewSource = `package time

import "syscall"

var skew = readSkew()

func readSkew() (seconds int64) {
	text, _ := syscall.Getenv("` + skewVariable + `")
	behind := len(text) > 0 && text[0] == '-'
	if behind {
		text = text[1:]
	}
	for _, digit := range []byte(text) {
		seconds = 10*seconds + int64(digit-'0')
	}
	if behind {
		return -seconds
	}
	return seconds
}
`

// The line of time.Now that asks the operating system, and what is put in its place.
const (
	askClock  = "\tsec, nsec, mono := runtimeNow()\n"
	askSkewed = askClock + "\tsec += skew\n"
)

// buildSkewed builds a program of this module whose clock can be wrong. No program can be given another clock from outside: Go reads the one of the
// machine without a system call. So a part of package time is replaced while it is built. Only the time of day is wrong, and what is measured with the
// monotonic clock is not, as on a machine whose time was never set.
func buildSkewed(ctx context.Context, root, dir, program string) (path string, err error) {
	overlay, err := overlaySkewed(ctx, dir)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "windlass") // What sets no user agent is called as its program is.
	return path, command(ctx, root, "go", "build", "-overlay", overlay, "-o", path, program)
}

// overlaySkewed writes what is put in the place of parts of package time, in the form that "go build -overlay" reads.
func overlaySkewed(ctx context.Context, dir string) (file string, err error) {
	found, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("cannot find the sources of Go: %w", err)
	}
	source := filepath.Join(strings.TrimSpace(string(found)), "src", "time")
	raw, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		return "", fmt.Errorf("cannot read the sources of Go: %w", err)
	}
	text := string(raw)
	if strings.Count(text, askClock) != 1 {
		return "", fmt.Errorf("cannot build a manager with a wrong clock: time.Now of %s does not have the line %q", source, strings.TrimSpace(askClock))
	}
	replaced := map[string]string{
		"time.go": strings.Replace(text, askClock, askSkewed, 1),
		"skew.go": skewSource,
	}
	overlay := struct {
		Replace map[string]string `json:"Replace"`
	}{map[string]string{}}
	for name, content := range replaced {
		own := filepath.Join(dir, name)
		overlay.Replace[filepath.Join(source, name)] = own
		err = errors.Join(err, os.WriteFile(own, []byte(content), 0o600))
	}
	list, marshal := json.Marshal(overlay)
	file = filepath.Join(dir, "overlay.json")
	if err := errors.Join(err, marshal, os.WriteFile(file, list, 0o600)); err != nil {
		return "", fmt.Errorf("cannot prepare a manager with a wrong clock: %w", err)
	}
	return file, nil
}
