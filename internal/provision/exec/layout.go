// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/internal/provision"
)

// Permissions: only the user of the manager can read anything of a cluster.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// layout knows where the files of one cluster are.
type layout struct{ dir string }

func (l layout) work() string    { return filepath.Join(l.dir, "work") }
func (l layout) run() string     { return filepath.Join(l.dir, "run") }
func (l layout) lock() string    { return filepath.Join(l.run(), "lock") }
func (l layout) request() string { return filepath.Join(l.run(), "request.json") }
func (l layout) record() string  { return filepath.Join(l.run(), "record.json") }
func (l layout) result() string  { return filepath.Join(l.run(), "result.json") }
func (l layout) log() string     { return filepath.Join(l.run(), "log") }

// Where programs that follow $HOME look for host keys, below the working directory. OpenSSH does not, and is told with {knownhosts}.
const (
	sshDir    = ".ssh"
	hostsFile = sshDir + "/known_hosts"
)

func (l layout) knownHosts() string { return filepath.Join(l.work(), hostsFile) }

// clear empties the working directory if the last run here began before a time, zero for never. Where no run has begun, it is of a start that came to nothing,
// and another manager can have run the tool since.
func (l layout) clear(from time.Time) error {
	_, err := os.Stat(l.request())
	if err == nil && !l.begun().Before(from) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(os.RemoveAll(l.work()), os.MkdirAll(l.work(), dirMode)); err != nil {
		return fmt.Errorf("cannot clear directory %q: %w", l.work(), noRoom(err))
	}
	return nil
}

// begun returns when the last run began, as far as that is known: a supervisor that could not start leaves no record.
func (l layout) begun() time.Time {
	var of record
	if known, err := read(l.record(), &of); err == nil && known {
		return of.StartedAt
	}
	info, err := os.Stat(l.request())
	if err != nil {
		return time.Time{}
	}
	return info.ModTime().UTC()
}

// values are what the placeholders of the tool stand for.
func (l layout) values(place provision.Place, tool provision.Tool) provision.Values {
	return provision.Values{Name: place.Name, Config: l.configPath(place, tool), KnownHosts: l.knownHosts()}
}

// configPath returns where the configuration is.
func (l layout) configPath(place provision.Place, tool provision.Tool) string {
	if place.ConfigPath != "" {
		return filepath.Clean(place.ConfigPath)
	}
	name := tool.ConfigName
	if name == "" {
		name = "cluster.yml"
	}
	return filepath.Join(l.work(), name)
}

// request is what the supervisor reads. It holds no secret: the private key comes through a pipe.
type request struct {
	ID      string           `json:"id"`
	Action  provision.Action `json:"action"`
	Argv    []string         `json:"argv"`
	Env     []string         `json:"env"`
	Dir     string           `json:"dir"`
	Timeout time.Duration    `json:"timeout"`
	Grace   time.Duration    `json:"grace"`
	// File is the user's file that the run works on, without links; empty if it works in the working directory.
	File string `json:"file,omitempty"`
	// KeepsDaemons says that processes which the tool leaves behind, in sessions of their own, are the cluster.
	KeepsDaemons bool `json:"keepsDaemons"`
	// Access is which files the tool can use; nil for all, and then NotIsolated says why if it should not be.
	Access      *access `json:"access,omitempty"`
	NotIsolated string  `json:"notIsolated,omitempty"`
}

// userFile returns the user's file of a place, without links; empty if the configuration is in the working directory.
func (r *Runner) userFile(place provision.Place) (string, error) {
	if place.ConfigPath == "" {
		return "", nil
	}
	path, err := r.options.ConfigRoot.Resolve(place.ConfigPath)
	return path, refused(err)
}

// spares returns ErrBusy if the run that is under way here works on the user's file.
func (l layout) spares(file string) error {
	var asked request
	if known, err := read(l.request(), &asked); err != nil || !known || file == "" || asked.File != file {
		return err
	}
	return fmt.Errorf("%w: one of another Cluster works on %q", provision.ErrBusy, file)
}

// private is what the supervisor reads from a pipe.
type private struct {
	// PrivateKey is served by an SSH agent.
	PrivateKey []byte `json:"privateKey,omitempty"`
	// Secrets are redacted in the log.
	Secrets []string `json:"secrets,omitempty"`
}

// record describes the run that the supervisor has started.
type record struct {
	ID        string           `json:"id"`
	Action    provision.Action `json:"action"`
	StartedAt time.Time        `json:"startedAt"`
	// Supervisor and Tool identify the two processes. Tool is zero until it has been started.
	Supervisor process `json:"supervisor"`
	Tool       process `json:"tool"`
}

// process identifies a process beyond its number, which is reused.
type process struct {
	PID int `json:"pid"`
	// Started is its start time in clock ticks since the boot.
	Started uint64 `json:"started"`
	// Boot is the machine's boot that it belongs to.
	Boot string `json:"boot"`
}

// result is how a run ended.
type result struct {
	ID       string    `json:"id"`
	EndedAt  time.Time `json:"endedAt"`
	ExitCode *int32    `json:"exitCode,omitempty"`
	Signal   string    `json:"signal,omitempty"`
	// TimedOut and Canceled say why it was stopped.
	TimedOut bool `json:"timedOut,omitempty"`
	Canceled bool `json:"canceled,omitempty"`
	// Problem is why the tool could not be started.
	Problem string `json:"problem,omitempty"`
	// Dropped is how much of the output did not fit into the log, in bytes.
	Dropped int64 `json:"dropped,omitempty"`
}

// read reads a file of JSON. If there is no such file, it leaves the value as it is and returns false.
func read(path string, into any) (bool, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return false, fmt.Errorf("cannot read %q: %w", path, err)
	}
	return true, nil
}

// write replaces a file in one step: a reader sees the old or the new content, whatever happens in between.
func write(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return noRoom(err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err != nil {
		return noRoom(err)
	}
	return noRoom(os.Rename(temporary.Name(), path))
}

func writeJSON(path string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("cannot encode %q: %w", path, err)
	}
	return write(path, raw)
}

// noRoom adds to an error that the disk is full, if that is the cause.
func noRoom(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", provision.ErrDiskFull, err)
	}
	return err
}
