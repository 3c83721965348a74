// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// start starts a sleep under another name, as the components are.
func start(t *testing.T, script string) (*Process, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "sh")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// Made here and not by the script: for a moment, what a shell forks to run mkfifo looks like a second shell.
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), Spec{Path: "/bin/sh", Args: []string{"-c", script}, Dir: dir, Log: filepath.Join(root, "log")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = Stop(t.Context(), 0, p.ID) })
	return p, root
}

func alive(t *testing.T, id ID) bool {
	t.Helper()
	alive, err := id.Alive()
	if err != nil {
		t.Fatal(err)
	}
	return alive
}

const untilKilled = "while :; do read line <&9 || :; done 9<>fifo"

func TestStopEndsWhatListensToTerm(t *testing.T) {
	t.Parallel()
	p, root := start(t, untilKilled)
	if !alive(t, p.ID) {
		t.Fatal("it does not run")
	}
	if err := Stop(t.Context(), time.Minute, p.ID); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if alive(t, p.ID) {
		t.Error("it is alive after its end")
	}
	if found, err := Find(root); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestStopKillsWhatDoesNotListen(t *testing.T) {
	t.Parallel()
	p, _ := start(t, "trap '' TERM; echo deaf; "+untilKilled)
	if err := Stop(t.Context(), 50*time.Millisecond, p.ID); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
}

func TestAnotherProcessWithTheSameNumberIsNotAlive(t *testing.T) {
	t.Parallel()
	p, _ := start(t, untilKilled)
	later := ID{PID: p.ID.PID, Started: p.ID.Started + "0"}
	if alive(t, later) {
		t.Error("a process of another start counts as alive")
	}
	if err := Stop(t.Context(), time.Minute, later); err != nil {
		t.Fatal(err)
	}
	if !alive(t, p.ID) {
		t.Error("a stranger was stopped")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes are found by their working directory on Linux only")
	}
	p, root := start(t, untilKilled)
	// A program that has just begun has no name yet, for as long as the kernel sets up its arguments.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		found, err := Find(root)
		if err != nil {
			t.Fatal(err)
		}
		diff := cmp.Diff(map[string][]ID{"sh": {p.ID}}, found)
		if diff == "" {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("found (-want +got):\n%s", diff)
		}
	}
	// A shell that somebody has opened in a component's directory is not that component.
	if err := os.Rename(filepath.Join(root, "sh"), filepath.Join(root, "etcd")); err != nil {
		t.Fatal(err)
	}
	if found, err := Find(root); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
}
