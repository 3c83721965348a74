// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// The bounds of the call for a tool's version: how long it can take, and how many bytes of what it prints are kept.
const (
	versionTimeout = 10 * time.Second
	maxVersion     = 64 << 10
)

// Observe implements provision.Provisioner.
func (r *Runner) Observe(_ context.Context, cluster string) (provision.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	files, err := r.of(cluster)
	if err != nil {
		return provision.Run{}, err
	}
	var asked request
	known, err := read(files.request(), &asked)
	if err != nil {
		return provision.Run{}, err
	}
	if !known {
		return provision.Run{}, provision.ErrNoRun
	}
	busy, err := held(files.lock())
	if err != nil {
		return provision.Run{}, fmt.Errorf("cannot check the lock of the run: %w", err)
	}
	run := provision.Run{ID: asked.ID, Action: asked.Action, Phase: provision.Running, StartedAt: files.begun()}
	whole := tail(files.log(), maxLog)
	run.Stage, run.Skipped = provision.Stage(whole), provision.Skipped(whole)
	run.Log = lastBytes(whole, provision.MaxLog)
	if busy {
		return run, nil
	}
	var ended result
	if known, err := read(files.result(), &ended); err != nil || !known || ended.ID != asked.ID {
		run.Phase = provision.Interrupted
		run.Failure = &provision.Failure{
			Reason: clusterprovisionerv1alpha1.ReasonInterrupted, Message: "the run ended without a result: its supervisor was killed, or the machine restarted",
			Retryable: true,
		}
		return run, nil
	}
	run.EndedAt, run.ExitCode = ended.EndedAt, ended.ExitCode
	run.Phase, run.Failure = judge(ended, asked, whole)
	return run, nil
}

// judge returns how a run ended. Files of the cluster are named as the tool finds them in its working directory: where that is says nothing
// to who reads the failure, and is another place with each manager.
func judge(ended result, asked request, log string) (provision.Phase, *provision.Failure) {
	log = strings.ReplaceAll(log, asked.Dir+string(filepath.Separator), "")
	switch {
	case ended.Problem != "":
		return provision.Failed, &provision.Failure{Reason: clusterprovisionerv1alpha1.ReasonBinaryMissing, Message: ended.Problem}
	case ended.TimedOut:
		return provision.Failed, &provision.Failure{
			Reason:    clusterprovisionerv1alpha1.ReasonTimeout,
			Message:   fmt.Sprintf("the run was stopped after %s: %s", asked.Timeout, provision.Classify(log).Message),
			Retryable: true,
		}
	case ended.Canceled:
		return provision.Interrupted, &provision.Failure{
			Reason: clusterprovisionerv1alpha1.ReasonInterrupted, Message: "the run was canceled", Retryable: true,
		}
	case ended.ExitCode != nil && *ended.ExitCode == 0:
		return provision.Succeeded, nil
	}
	failure := provision.Classify(log)
	switch {
	case ended.Signal != "":
		failure.Message = strings.TrimSuffix("the tool was killed by a signal ("+ended.Signal+"): "+failure.Message, ": ")
	case failure.Message == "" && ended.ExitCode != nil:
		failure.Message = fmt.Sprintf("exit code %d", *ended.ExitCode)
	}
	return provision.Failed, &failure
}

// Cancel implements provision.Provisioner.
func (r *Runner) Cancel(_ context.Context, cluster string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	files, err := r.of(cluster)
	if err != nil {
		return err
	}
	busy, err := held(files.lock())
	if err != nil || !busy {
		return err
	}
	var begun record
	if known, err := read(files.record(), &begun); err != nil || !known {
		return errors.Join(err, provision.ErrBusy) // it is just starting: the caller tries again
	}
	if !begun.Supervisor.alive() {
		return nil
	}
	return syscall.Kill(begun.Supervisor.PID, syscall.SIGTERM)
}

// Collect implements provision.Provisioner.
func (r *Runner) Collect(_ context.Context, place provision.Place, tool provision.Tool) (provision.Artifacts, error) {
	files, err := r.of(place.Cluster)
	if err != nil {
		return provision.Artifacts{}, err
	}
	work, err := openWorkspace(r.options.ConfigRoot, files, place, tool)
	if errors.Is(err, os.ErrNotExist) {
		return provision.Artifacts{}, nil
	}
	if err != nil {
		return provision.Artifacts{}, err
	}
	defer work.close()
	return work.collect(place.Name, tool)
}

// Forget implements provision.Provisioner.
func (r *Runner) Forget(_ context.Context, cluster string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	files, err := r.of(cluster)
	if err != nil {
		return err
	}
	busy, err := held(files.lock())
	if err != nil {
		return err
	}
	if busy {
		return provision.ErrBusy
	}
	if err := os.RemoveAll(files.dir); err != nil {
		return fmt.Errorf("cannot remove directory %q: %w", files.dir, err)
	}
	r.queue.Leave(cluster)
	return nil
}

// Version implements provision.Provisioner.
func (r *Runner) Version(ctx context.Context, tool provision.Tool) (string, error) {
	if len(tool.Version) == 0 {
		return "", nil
	}
	program, err := r.find(tool.Version[0])
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, program, tool.Version[1:]...)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.options.Root}
	command.WaitDelay = time.Second
	var allowed *access
	if r.options.Isolation != "" && r.options.Isolation != IsolationNone && CanIsolate() == nil {
		allowed = &access{Read: append(system(), program), Write: devices(), Alone: true}
	}
	out := beginning{full: cancel}
	command.Stdout = &out
	err = apart(allowed, command.Run)
	if err != nil && len(out.text) < maxVersion { // the version is at the beginning, however the rest ended
		return "", fmt.Errorf("cannot get the version of %q: %w", program, err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out.text)), "\n")
	return lastBytes(provision.Redact(line), 200), nil
}

// beginning keeps the beginning of what a program prints, and calls full once it needs no more: a program that prints forever must not fill the
// manager's memory.
type beginning struct {
	text []byte
	full func()
}

func (b *beginning) Write(printed []byte) (int, error) {
	taken := min(len(printed), maxVersion-len(b.text))
	if b.text = append(b.text, printed[:taken]...); len(b.text) == maxVersion {
		b.full()
	}
	if taken < len(printed) {
		return taken, io.ErrShortWrite
	}
	return taken, nil
}
