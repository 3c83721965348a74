// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/internal/provision"
)

// The file descriptors of the supervisor, in addition to the standard ones.
const (
	lockDescriptor = 3
	pipeDescriptor = 4
)

// maxPrivate bounds what comes through the pipe, in bytes.
const maxPrivate = 4 << 20

// send writes the secrets to the supervisor's pipe, and closes it.
func send(pipe *os.File, secrets private) error {
	raw, err := json.Marshal(secrets) //nolint:gosec // a pipe to the manager's own child is where secrets have to go
	if err == nil {
		_, err = pipe.Write(raw)
	}
	return errors.Join(err, pipe.Close())
}

// Supervise supervises one run, whose files are in the directory: it starts the tool, logs what it prints, and writes how it ended. Only a
// Runner starts it. The error says that the run could not be described; a tool that fails is not an error.
func Supervise(ctx context.Context, dir string, now func() time.Time) error {
	files := layout{dir: dir}
	var asked request
	if known, err := read(files.request(), &asked); err != nil || !known {
		return errors.Join(err, fmt.Errorf("cannot find a request in %q", files.run()))
	}
	secrets, err := receive()
	if err != nil {
		return err
	}
	if err := errors.Join(adopt(), Hide()); err != nil {
		return err
	}
	// From its record on it can be told to end.
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(told)
	s := &supervisor{
		files: files, asked: asked, now: now, told: told,
		record: record{ID: asked.ID, Action: asked.Action, StartedAt: now().UTC(), Supervisor: self()},
	}
	if err := writeJSON(files.record(), s.record); err != nil {
		return err
	}
	// The result must be written even if the disk is full by then: its space is taken now.
	if err := os.WriteFile(files.result()+".room", make([]byte, resultRoom), fileMode); err != nil {
		return noRoom(err)
	}
	return s.finish(s.run(ctx, secrets))
}

// resultRoom is how much space a result takes, in bytes.
const resultRoom = 4096

// receive reads the secrets from the pipe.
func receive() (private, error) {
	pipe := os.NewFile(pipeDescriptor, "pipe")
	defer func() { _ = pipe.Close() }()
	syscall.CloseOnExec(lockDescriptor) // the lock must end with the supervisor, not with the tool
	raw, err := io.ReadAll(io.LimitReader(pipe, maxPrivate))
	if err != nil {
		return private{}, fmt.Errorf("cannot read the secrets: %w", err)
	}
	var secrets private
	if err := json.Unmarshal(raw, &secrets); err != nil {
		return private{}, errors.New("cannot read the secrets: the manager ended before it sent them")
	}
	return secrets, nil
}

// supervisor supervises one run.
type supervisor struct {
	files  layout
	asked  request
	now    func() time.Time
	record record
	// told are the signals that end the run.
	told <-chan os.Signal
}

// run runs the tool to its end.
func (s *supervisor) run(ctx context.Context, secrets private) (ended result) {
	ended.ID = s.asked.ID
	redactor := provision.NewRedactor(append(secrets.Secrets, string(secrets.PrivateKey))...)
	log, err := newLogFile(s.files.log(), redactor)
	if err != nil {
		ended.Problem = "cannot open the log: " + err.Error()
		return ended
	}
	defer func() { ended.Dropped, _ = log.Close() }()
	env := s.asked.Env
	if len(secrets.PrivateKey) > 0 {
		socket, stop, err := serveAgent(secrets.PrivateKey)
		if err != nil {
			ended.Problem = "cannot serve the SSH key: " + err.Error()
			return ended
		}
		defer stop()
		env = append(env, "SSH_AUTH_SOCK="+socket)
	}

	command := exec.CommandContext(context.WithoutCancel(ctx), s.asked.Argv[0], s.asked.Argv[1:]...)
	command.Env, command.Dir, command.Stdout, command.Stderr = env, s.asked.Dir, log, log
	command.SysProcAttr = attributes()
	command.WaitDelay = outputDelay
	if s.asked.NotIsolated != "" {
		_, _ = fmt.Fprintf(log, "This tool is not isolated: %s\n", s.asked.NotIsolated)
	}
	done, err := s.start(command)
	if err != nil {
		ended.Problem = "cannot start the tool: " + err.Error()
		return ended
	}
	s.record.Tool = identify(command.Process.Pid)
	if err := writeJSON(s.files.record(), s.record); err != nil {
		_, _ = fmt.Fprintf(log, "cannot record the tool's process: %v\n", err)
	}
	ended.TimedOut, ended.Canceled = s.await(command, done, s.told)
	state := command.ProcessState
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		ended.Signal = status.Signal().String()
	} else {
		ended.ExitCode = new(int32(state.ExitCode())) //nolint:gosec // an exit code has 8 bits
	}
	return ended
}

// start starts the tool, on a thread that lives as long as it: if the supervisor is killed, the kernel kills the tool when the thread that
// started it ends. The channel is closed when the tool has ended.
func (s *supervisor) start(command *exec.Cmd) (done <-chan struct{}, err error) {
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		err := apart(s.asked.Access, func() error {
			if err := command.Start(); err != nil {
				return err
			}
			started <- nil
			_ = command.Wait() // what it returns is in the state of the process
			return nil
		})
		if err != nil {
			started <- err
		}
	}()
	return ended, <-started
}

// outputDelay is how long the output is read after the tool has ended: a process that it left behind can hold it open forever.
const outputDelay = 2 * time.Second

// await waits until the tool ends, by itself, at its timeout or because it is canceled, and kills what it leaves behind.
func (s *supervisor) await(command *exec.Cmd, done <-chan struct{}, told <-chan os.Signal) (timedOut, canceled bool) {
	group := command.Process.Pid
	timeout := time.NewTimer(s.asked.Timeout)
	defer timeout.Stop()
	select {
	case <-done:
		clean := command.ProcessState.ExitCode() == 0
		_ = syscall.Kill(-group, syscall.SIGKILL)
		if !clean || !s.asked.KeepsDaemons {
			endChildren()
		}
		return false, false
	case <-timeout.C:
		timedOut = true
	case <-told:
		canceled = true
	}
	_ = syscall.Kill(-group, syscall.SIGTERM)
	grace := time.NewTimer(s.asked.Grace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
	}
	_ = syscall.Kill(-group, syscall.SIGKILL)
	endChildren()
	<-done
	return timedOut, canceled
}

// finish writes the result into the space that was kept for it.
func (s *supervisor) finish(ended result) error {
	ended.EndedAt = s.now().UTC()
	if len(ended.Problem) > resultRoom/4 {
		ended.Problem = ended.Problem[:resultRoom/4]
	}
	raw, err := json.Marshal(ended)
	if err != nil {
		return fmt.Errorf("cannot encode the result: %w", err)
	}
	room := s.files.result() + ".room"
	file, err := os.OpenFile(room, os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	_, err = file.Write(raw)
	if err == nil {
		err = file.Truncate(int64(len(raw)))
	}
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("cannot write the result: %w", err)
	}
	return os.Rename(room, s.files.result())
}
