// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/exec"
)

// Command is how this program is called in a Pod, followed by "prepare", "run", "report" or "cancel".
const Command = "provision-pod"

// Where things are in a Pod.
const (
	programDir = "/windlass/bin"
	program    = programDir + "/windlass"
	requestDir = "/windlass/request"
	runDir     = "/windlass/run"
)

// Pod is the inside of a run's Pod.
type Pod struct {
	// Supervisor is the command that runs exec.Supervise.
	Supervisor []string
	// Environment returns the environment of the container, as NAME=value.
	Environment func() []string
}

// The files in runDir, besides the directory of package exec.
const (
	requestFile = runDir + "/" + requestKey
	// toldFile is the request without anything secret.
	toldFile = runDir + "/told.json"
	// problemFile is the report of a run that could not start.
	problemFile = runDir + "/problem.json"
	// reportedFile says that a manager was told how the run ended, and what it left.
	reportedFile = runDir + "/reported"
)

// Prepare is what the init container does: it copies this program and the request to where the tool's container has them.
func (p Pod) Prepare() error {
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program: %w", err)
	}
	return errors.Join(duplicate(own, program, 0o755), duplicate(filepath.Join(requestDir, requestKey), requestFile, 0o600))
}

func duplicate(from, to string, mode os.FileMode) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// runner returns what runs the tool here. There is no wall between the tool and the files of its Pod: none of them is secret.
func (p Pod) runner() (*exec.Runner, error) {
	return exec.New(exec.Options{
		Root: filepath.Join(runDir, "state"), Limit: 1, Supervisor: p.Supervisor, Environment: p.Environment, Isolation: exec.IsolationNone,
	})
}

// Run is the first process of the tool's container: it starts the run and waits until nobody needs the Pod any more.
func (p Pod) Run(ctx context.Context) error {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	defer signal.Stop(told)
	if err := exec.Hide(); err != nil {
		return err
	}
	wanted, err := takeRequest()
	if err != nil {
		return err
	}
	runner, err := p.runner()
	if err != nil {
		return err
	}
	if err := start(ctx, runner, wanted); err != nil {
		if err := writeJSON(problemFile, Report{Run: provision.Run{
			ID: wanted.ID, Action: wanted.Action, Phase: provision.Failed,
			Failure: &provision.Failure{Reason: clusterprovisionerv1alpha1.ReasonBinaryMissing, Message: err.Error()},
		}}); err != nil {
			return err
		}
	}
	<-told
	return stop(ctx, runner, wanted.Cluster, reportedFile)
}

// takeRequest reads the request and takes it out of the file system, before the tool is there to read it.
func takeRequest() (provision.Request, error) {
	var wanted provision.Request
	packed, err := os.ReadFile(requestFile)
	if err != nil {
		return wanted, err
	}
	if err := os.Remove(requestFile); err != nil {
		return wanted, err
	}
	if err := unpack(packed, &wanted); err != nil {
		return wanted, fmt.Errorf("cannot read the request: %w", err)
	}
	open := provision.Request{Place: wanted.Place, ID: wanted.ID, Action: wanted.Action, Tool: wanted.Tool}
	return wanted, writeJSON(toldFile, open)
}

// pollInterval is how often this process tries again, or looks whether the run has ended.
const pollInterval = 100 * time.Millisecond

// start starts the run. A report that is being made at the same time can hold the lock for a moment.
func start(ctx context.Context, runner *exec.Runner, wanted provision.Request) error {
	err := runner.Start(ctx, wanted)
	for errors.Is(err, provision.ErrBusy) {
		<-time.After(pollInterval)
		err = runner.Start(ctx, wanted)
	}
	return err
}

// stop ends the tool, if it has not ended, and then waits a while for somebody who stores what it left: nothing else has that. A Pod that is evicted may be
// told to end between the end of its tool and the next look of a manager. The file is there once a manager was told.
func stop(ctx context.Context, runner *exec.Runner, cluster, reported string) error {
	run, err := runner.Observe(ctx, cluster)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to end
	}
	for run.Phase == provision.Running {
		if err := runner.Cancel(ctx, cluster); err != nil && !errors.Is(err, provision.ErrBusy) {
			return err
		}
		<-time.After(pollInterval)
		if run, err = runner.Observe(ctx, cluster); err != nil {
			return err
		}
	}
	if exists(reported) {
		return nil // the Job is deleted once the result is stored
	}
	for waited := time.Duration(0); waited < handover; waited += pollInterval {
		<-time.After(pollInterval)
		if exists(reported) {
			<-time.After(delivery)
			return nil
		}
	}
	return nil
}

// delivery is how long a Pod waits after its report before it ends. The report needs time to arrive, and a manager that could not store it asks again.
const delivery = 2 * followEvery

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Report writes how far the run is, and what it left if it has ended.
func (p Pod) Report(ctx context.Context, cluster string, out io.Writer) error {
	told := &Report{Run: provision.Run{Phase: provision.Running}}
	if err := p.look(ctx, cluster, told); err != nil {
		return err
	}
	return tell(told, out, reportedFile)
}

// tell writes a report, and then the file that says so, if the run has ended.
func tell(told *Report, out io.Writer, reported string) error {
	packed, err := pack(told)
	if errors.Is(err, errTooLarge) {
		packed, err = pack(tooLarge(told))
	}
	if err == nil {
		_, err = out.Write(packed)
	}
	if err == nil && told.Run.Phase != provision.Running {
		_ = os.WriteFile(reported, nil, 0o600) // without it the Pod waits before it ends, and the report is good
	}
	return err
}

func (p Pod) look(ctx context.Context, cluster string, told *Report) error {
	if known, err := readJSON(problemFile, told); known || err != nil {
		return err
	}
	var open provision.Request
	if known, err := readJSON(toldFile, &open); !known || err != nil {
		return err
	}
	runner, err := p.runner()
	if err != nil {
		return err
	}
	switch run, err := runner.Observe(ctx, cluster); {
	case errors.Is(err, provision.ErrNoRun):
		return nil
	case err != nil:
		return err
	default:
		told.Run = run
	}
	if told.Run.Phase == provision.Running {
		return nil
	}
	left, err := runner.Collect(ctx, open.Place, open.Tool)
	told.Left = &left
	return err
}

// Cancel stops the tool, with its grace.
func (p Pod) Cancel(ctx context.Context, cluster string) error {
	runner, err := p.runner()
	if err != nil {
		return err
	}
	return runner.Cancel(ctx, cluster)
}

func writeJSON(path string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}

// readJSON reads a file; it returns false if there is none.
func readJSON(path string, into any) (bool, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(raw, into)
}
