// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process is a program that runs in the background.
type Process struct {
	PID int
	// Began is right before the start.
	Began time.Time

	name, log string
	command   *exec.Cmd
	done      chan struct{}
}

// Start starts a command whose output is appended to a log file. It ends with End.
func Start(name, log string, command *exec.Cmd) (*Process, error) {
	p := &Process{Began: time.Now(), name: name, log: log, command: command, done: make(chan struct{})}
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write the log of %s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	command.Stdout, command.Stderr = file, file
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	p.PID = command.Process.Pid
	go func() {
		_ = command.Wait()
		close(p.done)
	}()
	return p, nil
}

// End sends a signal and waits until the process has ended, by force if it takes longer than that. It returns the exit code.
// Signal 0 does nothing to a process, so with it End waits until the process ends by itself.
func (p *Process) End(signal syscall.Signal, within time.Duration) (code int, err error) {
	if err := p.Signal(signal); err != nil {
		return 0, err
	}
	select {
	case <-p.done:
		return p.command.ProcessState.ExitCode(), nil
	case <-time.After(within):
		_ = p.command.Process.Kill()
		<-p.done
		return 0, fmt.Errorf("cannot end %s in order: killed %s after signal %q; the end of its log:\n%s", p.name, within, signal, p.Tail())
	}
}

// Signal sends a signal. A process that has ended gets none.
func (p *Process) Signal(signal syscall.Signal) error {
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cannot send signal %q to %s: %w", signal, p.name, err)
	}
	return nil
}

// Until waits, for as long as the process runs, until a check of it succeeds.
func (p *Process) Until(ctx context.Context, every time.Duration, check func(ctx context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-p.done:
			stop()
		case <-ctx.Done():
		}
	}()
	err := Until(ctx, every, check)
	if err == nil {
		return nil
	}
	if err := p.Ended(); err != nil {
		return err
	}
	return fmt.Errorf("cannot wait any longer for %s: %w; the end of its log:\n%s", p.name, err, p.Tail())
}

// Ended returns an error if the process no longer runs.
func (p *Process) Ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("cannot go on without %s, which ended with code %d; the end of its log:\n%s",
			p.name, p.command.ProcessState.ExitCode(), p.Tail())
	default:
		return nil
	}
}

// Tail returns the end of the log.
func (p *Process) Tail() string {
	log, err := p.Log()
	if err != nil {
		return err.Error()
	}
	return log[max(0, len(log)-4000):]
}

// Log returns what the process has logged.
func (p *Process) Log() (string, error) {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return "", fmt.Errorf("cannot read the log of %s: %w", p.name, err)
	}
	return string(raw), nil
}
