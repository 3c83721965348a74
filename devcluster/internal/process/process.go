// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process starts long-lived background processes, and finds, checks and stops them in later calls.
//
// After a crash or a reboot, a process ID alone can belong to another process. So a process is always identified by its
// ID and its start time, and is signalled only if both still match.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ID identifies one process, even if its number is reused.
type ID struct {
	PID int `json:"pid"`
	// Started distinguishes the process from a later one with the same number; its format depends on the platform.
	Started string `json:"started"`
}

// Spec says what to start.
type Spec struct {
	// Path is the executable and also its argv[0].
	Path string
	Args []string
	Env  []string
	// Dir is the working directory. Give each process one of its own: Find identifies processes by it.
	Dir string
	// Log is the file to which standard output and standard error are appended.
	Log string
	// Namespaces starts it as the first process of a mount and a process namespace of its own. Linux and root only.
	Namespaces bool
	// Join starts it in the namespaces of a process that was started with Namespaces. The zero ID is none.
	Join ID
}

// Process is a process started by this program.
type Process struct {
	ID   ID
	done chan struct{}
	err  error
}

// Start starts a process that outlives this program: a session of its own, no standard input, output into a file.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open log %q: %w", spec.Log, err)
	}
	// The process has a descriptor of its own, so an error of Close does not affect its log.
	defer func() { _ = log.Close() }()

	// Not cancelled with the context: the process must outlive the command that started it.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), spec.Path, spec.Args...)
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	cmd.Stdout, cmd.Stderr = log, log
	// A session of its own keeps the terminal's Ctrl-C and hang-up away from it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := launch(cmd, spec); err != nil {
		return nil, fmt.Errorf("cannot start %q: %w", spec.Path, err)
	}
	started, err := startedAt(cmd.Process.Pid)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		// It must not stay: no later call could find it.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("cannot start %q: %w", spec.Path, err)
	}
	// Without a start it has already ended, which Done reports.
	p := &Process{ID: ID{PID: cmd.Process.Pid, Started: started}, done: make(chan struct{})}
	go func() {
		// Wait also reaps it, so that a zombie does not count as a running process.
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the process ended. Call it after Done only.
func (p *Process) Err() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// Alive reports whether exactly this process still runs. Zombies do not count. After an error it can run or not.
func (id ID) Alive() (bool, error) {
	if id.PID <= 0 || id.Started == "" {
		return false, nil
	}
	// Whoever has the number in this boot can be somebody else's process, which cannot always be read.
	if over, err := ofAnotherBoot(id.Started); over || err != nil {
		return false, err
	}
	started, err := startedAt(id.PID)
	if errors.Is(err, os.ErrProcessDone) {
		return false, nil
	}
	return err == nil && started == id.Started, err
}

// Stop ends all processes at once: TERM first, then KILL for those that remain after the grace period. It returns when
// all have ended. A cancelled context skips the grace, not the killing.
func Stop(ctx context.Context, grace time.Duration, ids ...ID) error {
	if left, err := end(ctx, grace, ids, syscall.SIGTERM); left == nil {
		return err
	}
	left, err := end(context.WithoutCancel(ctx), killPatience, ids, syscall.SIGKILL)
	if left != nil {
		return fmt.Errorf("process %d did not end after SIGKILL", left.PID)
	}
	return err
}

// killPatience is how long the kernel gets to take down a killed process that is in the middle of disk writes.
const killPatience = 10 * time.Second

// end signals processes and returns one that still runs after the patience, or nil.
func end(ctx context.Context, patience time.Duration, ids []ID, sig syscall.Signal) (*ID, error) {
	if err := signal(ids, sig); err != nil {
		return nil, err
	}
	return waitGone(ctx, patience, ids)
}

// signal checks each process again immediately before, so that the kernel has hardly any time to reuse its number.
func signal(ids []ID, sig syscall.Signal) error {
	var errs []error
	for _, id := range ids {
		alive, err := id.Alive()
		if alive {
			// An error means that the process has just ended or may not be signalled: waitGone finds out which.
			_ = syscall.Kill(id.PID, sig)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// waitGone returns a process that still runs after the patience, or nil. It checks once more after the deadline, because a
// process can end just then.
func waitGone(ctx context.Context, patience time.Duration, ids []ID) (*ID, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// There is no portable notification of the end of a process that is not a child, so this polls.
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if left, err := firstAlive(ids); left == nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return firstAlive(ids)
		case <-tick.C:
		}
	}
}

// firstAlive returns a process that runs, or nil.
func firstAlive(ids []ID) (*ID, error) {
	for _, id := range ids {
		alive, err := id.Alive()
		if err != nil {
			return nil, err
		}
		if alive {
			return &id, nil
		}
	}
	return nil, nil
}
