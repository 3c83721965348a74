// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package dockertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	"github.com/windlass-operator/windlass/internal/testkit/netns"
)

// patience is how long an engine can take to start, on the slowest machine.
const patience = 2 * time.Minute

// boot sets up the new namespaces and runs the engine: again while the file is there that comes first, after a crash. What must not
// survive a power failure is in /run, like after a reboot. Networks are kept apart by the kernel, which forwards nothing: the engine sets no
// packet filter here, and a new network namespace forwards if the machine does.
const boot = `
mount --make-rprivate / && mount -t proc none /proc && mount -t tmpfs none /run || exit
echo 0 > /proc/sys/net/ipv4/ip_forward || exit
again=$1
shift
while dockerd "$@"; [ -e "$again" ]; do :; done
`

// manyNetworks lets the engine make many small networks, where by default it makes some thirty large ones: tests use a network for each
// machine.
const manyNetworks = `{"default-address-pools": [{"base": "10.64.0.0/12", "size": 27}]}`

// Daemon is a private engine.
type Daemon struct {
	dir, group string

	process *os.Process
	ended   chan struct{}
}

// started counts the engines of this process, for the names of their control groups.
var started atomic.Int64 //nolint:gochecknoglobals // because control groups are global, too

// Missing says why no engine can run on this machine; empty if one can.
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

// Start starts an engine for the test, or skips the test if no engine can run. The engine has Image.
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

// Open starts an engine, which the caller must close. The engine has Image.
func Open(ctx context.Context) (*Daemon, error) {
	sweep()
	name := prefix + strconv.Itoa(os.Getpid()) + "-"
	dir, err := os.MkdirTemp("", name) // a short path: that of a socket has at most 107 bytes
	if err != nil {
		return nil, fmt.Errorf("cannot make a directory: %w", err)
	}
	d := &Daemon{dir: dir, group: name + strconv.FormatInt(started.Add(1), 10)}
	if err := errors.Join(d.Configure(manyNetworks), d.Run(ctx)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := d.Import(ctx, Image); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close kills the engine with all its containers, and removes its files.
func (d *Daemon) Close() error {
	d.Kill()
	return errors.Join(removeGroups(d.group), os.RemoveAll(d.dir))
}

// Socket is the path of the socket of the engine.
func (d *Daemon) Socket() string { return d.path("api.sock") }

// Host is the engine as an entry of a hosts file.
func (d *Daemon) Host() machine.Host {
	return machine.Host{Name: "docker", Driver: machine.DriverDocker, Endpoint: "unix://" + d.Socket(), MaxCalls: machine.DefaultMaxCalls}
}

// Client returns a client for the API of the engine.
func (d *Daemon) Client() (*client.Client, error) {
	api, err := client.New(client.WithHost("unix://" + d.Socket()))
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return api, nil
}

// Configure writes the configuration of the engine, which takes effect with the next Run.
func (d *Daemon) Configure(config string) error {
	if err := os.WriteFile(d.path("daemon.json"), []byte(config), 0o600); err != nil {
		return fmt.Errorf("cannot configure the engine: %w", err)
	}
	return nil
}

// Import imports the image under another name, with changes in the syntax of a Dockerfile.
func (d *Daemon) Import(ctx context.Context, name string, changes ...string) (err error) {
	api, err := d.Client()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, api.Close()) }()
	return importImage(ctx, api, name, changes...)
}

// Kill kills the engine and all its containers at once, like a power failure. Its files stay.
func (d *Daemon) Kill() {
	if d.process == nil {
		return
	}
	thaw(d.group)
	// This is the first process of its namespace: the kernel kills all others with it, before Wait returns.
	_ = d.process.Kill() // fails if it has ended
	<-d.ended
	d.process = nil
}

// Run starts the engine again after Kill, and returns when it answers.
func (d *Daemon) Run(ctx context.Context) error {
	log, err := os.Create(d.path("log"))
	if err != nil {
		return fmt.Errorf("cannot make a log: %w", err)
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", "-c", boot, "boot", d.path("again"),
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
		// The engine dies with the thread that started it, so that thread must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		begun <- err
		if err == nil {
			_ = command.Wait() // it is always killed
		}
	}()
	if err := errors.Join(<-begun, log.Close()); err != nil {
		return fmt.Errorf("cannot start dockerd: %w", err)
	}
	d.process = command.Process
	return d.awaitReady(ctx)
}

// awaitReady waits until the engine answers.
func (d *Daemon) awaitReady(ctx context.Context) (err error) {
	api, err := d.Client()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, api.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := api.Ping(ctx, client.PingOptions{}); err == nil {
			return netns.RaiseLoopback(d.process.Pid)
		}
		select {
		case <-d.ended:
			return fmt.Errorf("cannot start dockerd: it exited:\n%s", d.logTail())
		case <-ctx.Done():
			return fmt.Errorf("cannot start dockerd: it does not answer: %w\n%s", ctx.Err(), d.logTail())
		case <-tick.C:
		}
	}
}

// RoundTripper sends HTTP requests to the socket of the engine, for proxies in tests.
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
