// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package dockertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// patience is how long the engine may take to start, on the slowest machine there is.
const patience = 2 * time.Minute

// boot makes the new namespaces habitable and becomes the engine. All that must not survive it is in /run, as after a reboot.
const boot = `
mount --make-rprivate / && mount -t proc none /proc && mount -t tmpfs none /run || exit
exec dockerd "$@"
`

// Daemon is an engine.
type Daemon struct {
	dir, group string

	process *os.Process
	ended   chan struct{}
}

// started counts the engines of this process, for their control groups' names.
var started atomic.Int64 //nolint:gochecknoglobals // because control groups are

// Missing says why no engine can run here, empty if one can.
func Missing() string {
	switch {
	case runtime.GOOS != "linux":
		return "dockerd runs on Linux only"
	case os.Geteuid() != 0:
		return "dockerd needs root"
	}
	for _, program := range []string{"dockerd", "containerd", "runc"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed (Debian has it in docker.io)"
		}
	}
	return ""
}

// Start starts an engine for the test, which is skipped where none can run. It has the image Image.
func Start(tb testing.TB) *Daemon {
	tb.Helper()
	if why := Missing(); why != "" {
		tb.Skip("no Docker Engine: " + why)
	}
	d, err := Open(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

// Open starts an engine, which the caller closes. It has the image Image.
func Open(ctx context.Context) (*Daemon, error) {
	// A short path: that of a socket must not have more than a hundred bytes or so.
	sweep()
	name := prefix + strconv.Itoa(os.Getpid()) + "-"
	dir, err := os.MkdirTemp("", name)
	if err != nil {
		return nil, fmt.Errorf("cannot make a directory: %w", err)
	}
	d := &Daemon{dir: dir, group: name + strconv.FormatInt(started.Add(1), 10)}
	if err := errors.Join(os.WriteFile(d.path("daemon.json"), []byte("{}"), 0o600), d.Run(ctx)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := d.Import(ctx, Image); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close ends the engine with all its containers, and removes what it has written.
func (d *Daemon) Close() error {
	d.Kill()
	return errors.Join(removeGroups(d.group), os.RemoveAll(d.dir))
}

// Socket is the path of the engine's socket.
func (d *Daemon) Socket() string { return d.path("api.sock") }

// Host is the engine as an entry of a hosts file.
func (d *Daemon) Host() machine.Host {
	return machine.Host{Name: "docker", Driver: machine.DriverDocker, Endpoint: "unix://" + d.Socket(), MaxCalls: machine.DefaultMaxCalls}
}

// Client returns a client of the engine's API.
func (d *Daemon) Client() (*client.Client, error) {
	api, err := client.New(client.WithHost("unix://" + d.Socket()))
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return api, nil
}

// Kill ends the engine and all its containers at once, as a power cut would. What is on its disk stays.
func (d *Daemon) Kill() {
	if d.process == nil {
		return
	}
	// The engine is the first process of its namespace: the kernel ends all others with it, before anybody hears of its end.
	_ = d.process.Kill() // It has ended already.
	<-d.ended
	d.process = nil
}

// Run starts the engine again after Kill, and returns when it answers.
func (d *Daemon) Run(ctx context.Context) error {
	log, err := os.Create(d.path("log"))
	if err != nil {
		return fmt.Errorf("cannot make a log: %w", err)
	}
	defer log.Close()                                      //nolint:errcheck // because dockerd has it now
	command := exec.Command("/bin/sh", "-c", boot, "boot", //nolint:noctx // because it outlives this call
		"--config-file", d.path("daemon.json"), "--data-root", d.path("data"), "--host", "unix://"+d.Socket(),
		"--cgroup-parent", "/"+d.group, "--storage-driver", "vfs",
		"--iptables=false", "--ip6tables=false", "--ip-masq=false", "--ip-forward=false")
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
	begun := make(chan error, 1)
	d.ended = make(chan struct{})
	go func() {
		defer close(d.ended)
		// The engine dies with the thread that started it, which therefore has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		begun <- err
		if err == nil {
			_ = command.Wait() // It is always killed.
		}
	}()
	if err := <-begun; err != nil {
		return fmt.Errorf("cannot start dockerd: %w", err)
	}
	d.process = command.Process
	return d.awaitReady(ctx)
}

// awaitReady waits until the engine answers.
func (d *Daemon) awaitReady(ctx context.Context) error {
	api, err := d.Client()
	if err != nil {
		return err
	}
	defer api.Close() //nolint:errcheck // because it has no state
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := api.Ping(ctx, client.PingOptions{}); err == nil {
			return d.raiseLoopback()
		}
		select {
		case <-d.ended:
			return fmt.Errorf("cannot start dockerd: it ended:\n%s", d.logTail())
		case <-ctx.Done():
			return fmt.Errorf("cannot start dockerd: it does not answer: %w\n%s", ctx.Err(), d.logTail())
		case <-tick.C:
		}
	}
}

// RoundTripper speaks HTTP to the engine's socket, for those who put something in between.
func (d *Daemon) RoundTripper() http.RoundTripper {
	return &http.Transport{DialContext: dialUnix(d.Socket())}
}

func (d *Daemon) path(name string) string { return filepath.Join(d.dir, name) }

func (d *Daemon) logTail() string {
	log, err := os.ReadFile(d.path("log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(log)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// prefix of what an engine leaves behind if nobody closes it; the number of its process follows.
const prefix = "dockertest-"

// sweep removes what engines of processes have left that did not come to close them. What cannot be removed is somebody else's trouble.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
		groups, _ := filepath.Glob(pattern + prefix + "*")
		left = append(left, groups...)
	}
	for _, path := range left {
		name := filepath.Base(path)
		owner, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "-")
		if _, err := os.Stat(filepath.Join("/proc", owner)); owner == "" || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if strings.HasPrefix(path, "/sys/") {
			_ = removeGroups(name)
		} else {
			_ = os.RemoveAll(path)
		}
	}
}

// removeGroups removes the empty control groups that a killed engine leaves, the inner ones first.
func removeGroups(name string) error {
	roots := []string{filepath.Join("/sys/fs/cgroup", name)}
	named, err := filepath.Glob(filepath.Join("/sys/fs/cgroup/*", name))
	if err != nil {
		return fmt.Errorf("cannot list control groups: %w", err)
	}
	var errs []error
	for _, root := range append(roots, named...) {
		inner, err := filepath.Glob(filepath.Join(root, "*", "cgroup.procs"))
		errs = append(errs, err)
		for _, procs := range inner {
			errs = append(errs, removeGroup(filepath.Dir(procs)))
		}
		errs = append(errs, removeGroup(root))
	}
	return errors.Join(errs...)
}

func removeGroup(path string) error {
	if err := syscall.Rmdir(path); err != nil && !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("cannot remove control group %q: %w", path, err)
	}
	return nil
}
