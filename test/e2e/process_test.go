// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// result is how a program ended.
type result struct {
	code     int
	out, err string
}

// command returns a command in the environment of the tests: nothing of the developer's own cluster gets through.
func (c *cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.Env = []string{
		"HOME=" + c.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + c.dir,
		"KUBECONFIG=" + c.admin, "DEVCLUSTER_DIR=" + filepath.Join(c.dir, "devcluster"),
	}
	return command
}

// run runs a program to its end.
func (c *cluster) run(ctx context.Context, name string, args ...string) result {
	return finish(c.command(ctx, name, args...))
}

func finish(command *exec.Cmd) result {
	var out, stderr bytes.Buffer
	command.Stdout, command.Stderr = &out, &stderr
	if err := command.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited {
			return result{-1, out.String(), err.Error()}
		}
	}
	return result{command.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// do runs kubectl as the administrator and returns what it printed.
func (c *cluster) do(t *testing.T, args ...string) string {
	t.Helper()
	done := c.run(t.Context(), c.kubectl, args...)
	if done.code != 0 {
		t.Fatalf("kubectl %s: exit code %d: %s", strings.Join(args, " "), done.code, done.err)
	}
	return done.out
}

// apply applies a manifest the way an article's reader does. It is deleted at the end of the test, if it is still there.
func (c *cluster) apply(t *testing.T, manifest string) {
	t.Helper()
	command := c.command(t.Context(), c.kubectl, "apply", "-f", "-")
	command.Stdin = strings.NewReader(manifest)
	if done := finish(command); done.code != 0 {
		t.Fatalf("kubectl apply: exit code %d: %s\n%s", done.code, done.err, manifest)
	}
}

// manager is a running "windlass manager".
type manager struct {
	t       *testing.T
	process *exec.Cmd
	log     string
	health  string
	done    chan struct{}
	stopped bool
}

// startManager starts a manager with the rights that it is shipped with. At the end of the test it is told to end, and the
// test fails if it does not do so in order, or if the API server has refused it anything.
func (c *cluster) startManager(t *testing.T, args ...string) *manager {
	t.Helper()
	health := freeAddress(t)
	log, err := os.CreateTemp(t.TempDir(), "manager-*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	args = append([]string{
		"manager", "-v=1", "--kubeconfig", c.manager, "--lease-lock-namespace", namespace,
		"--metrics-bind-address=0", "--health-probe-bind-address", health,
	}, args...)
	m := &manager{t: t, log: log.Name(), health: health, done: make(chan struct{})}
	m.process = c.command(context.WithoutCancel(t.Context()), c.windlass, args...)
	m.process.Stdout, m.process.Stderr = log, log
	if err := m.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = m.process.Wait()
		close(m.done)
	}()
	t.Cleanup(m.finish)
	return m
}

// finish ends the manager if it runs, and looks at its log.
func (m *manager) finish() {
	if !m.stopped {
		if code, _ := m.stop(); code != 0 {
			m.t.Errorf("the manager ended with code %d", code)
		}
	}
	log := m.read()
	for line := range strings.Lines(log) {
		if strings.Contains(strings.ToLower(line), "forbidden") {
			m.t.Errorf("the API server refused the manager something: %s", line)
		}
		if strings.Contains(line, "Observed a panic") {
			m.t.Errorf("the manager panicked: %s", line)
		}
	}
	if m.t.Failed() {
		m.t.Logf("log of the manager:\n%s", log)
	}
}

// stop tells the manager to end and returns its exit code and how long it took.
func (m *manager) stop() (code int, took time.Duration) {
	m.t.Helper()
	began := time.Now()
	m.signal(syscall.SIGTERM)
	return m.process.ProcessState.ExitCode(), time.Since(began)
}

// kill ends the manager as a power cut would.
func (m *manager) kill() {
	m.t.Helper()
	m.signal(syscall.SIGKILL)
}

// wait waits until the manager ends by itself and returns its exit code.
func (m *manager) wait() (code int) {
	m.t.Helper()
	m.signal(syscall.Signal(0)) // which reaches a process and does nothing to it
	return m.process.ProcessState.ExitCode()
}

func (m *manager) signal(signal os.Signal) {
	m.t.Helper()
	m.stopped = true
	if err := m.process.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		m.t.Fatal(err)
	}
	select {
	case <-m.done:
	case <-time.After(time.Minute):
		_ = m.process.Process.Kill()
		m.t.Fatalf("the manager did not end within a minute of %s; its log:\n%s", signal, m.read())
	}
}

// ready waits until the manager says that it is ready.
func (m *manager) ready() *manager {
	m.t.Helper()
	eventually(m.t, "the manager is ready", func(ctx context.Context) error {
		return m.probe(ctx, "/readyz")
	})
	return m
}

func (m *manager) probe(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.health+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, response.Status)
	}
	return nil
}

func (m *manager) read() string {
	m.t.Helper()
	raw, err := os.ReadFile(m.log)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(raw)
}

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// patience is how long a state may take. It is long, because a machine may be slow, and costs nothing when it is not.
const patience = time.Minute

// eventually waits until check finds nothing to complain about.
func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not within %s: %s: %v", patience, what, last)
		case <-tick.C:
		}
	}
}
