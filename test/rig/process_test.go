// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

// start starts a shell script whose standard input stays open until the test ends.
func start(t *testing.T, script string) *rig.Process {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", "-c", script)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(in.Close(), out.Close()) })
	command.Stdin = in
	p, err := rig.Start("script", filepath.Join(t.TempDir(), "script.log"), command)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// logs waits until the process has logged the line.
func logs(t *testing.T, p *rig.Process, line string) {
	t.Helper()
	err := p.Until(t.Context(), time.Millisecond, func(context.Context) error {
		if log, err := p.Log(); err != nil || !strings.Contains(log, line) {
			return errors.New("the line is missing")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestUntilEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	p := start(t, "echo out of luck; exit 3")
	err := p.Until(t.Context(), time.Millisecond, func(context.Context) error { return errors.New("not ready") })
	if err == nil || !strings.Contains(err.Error(), "ended with code 3") || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("the error is %v, want the exit code and the log", err)
	}
}

func TestUntilKeepsTheLastComplaint(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	complaint := errors.New("not ready")
	err := rig.Until(ctx, time.Millisecond, func(ctx context.Context) error {
		if ctx.Err() != nil {
			return errors.New("the context has ended")
		}
		defer cancel()
		return complaint
	})
	if !errors.Is(err, complaint) || !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want the end of the context and %q", err, complaint)
	}
}

func TestEndReturnsTheExitCode(t *testing.T) {
	t.Parallel()
	p := start(t, "trap 'exit 7' TERM; echo up; read line")
	logs(t, p, "up")
	if code, err := p.End(syscall.SIGTERM, time.Minute); code != 7 || err != nil {
		t.Errorf("it ended with code %d and %v, want 7", code, err)
	}
	if code, err := p.End(syscall.SIGTERM, time.Minute); code != 7 || err != nil {
		t.Errorf("a second time it ended with code %d and %v, want 7", code, err)
	}
}

func TestEndKillsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	p := start(t, "trap '' TERM; echo up; read line")
	logs(t, p, "up")
	if _, err := p.End(syscall.SIGTERM, time.Millisecond); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the error is %v, want one that says it was killed", err)
	}
	if p.Ended() == nil {
		t.Error("it still runs")
	}
}
