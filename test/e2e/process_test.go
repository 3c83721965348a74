// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

// do runs kubectl as the administrator and returns what it printed.
func (c *cluster) do(t *testing.T, args ...string) string {
	t.Helper()
	done := c.Run(t.Context(), c.Kubectl, args...)
	if done.Code != 0 {
		t.Fatalf("kubectl %s: exit code %d: %s", strings.Join(args, " "), done.Code, done.Err)
	}
	return done.Out
}

// apply applies a manifest the way an article's reader does. It is deleted at the end of the test, if it is still there.
func (c *cluster) apply(t *testing.T, manifest string) {
	t.Helper()
	command := c.Command(t.Context(), c.Kubectl, "apply", "-f", "-")
	command.Stdin = strings.NewReader(manifest)
	if done := rig.Finish(command); done.Code != 0 {
		t.Fatalf("kubectl apply: exit code %d: %s\n%s", done.Code, done.Err, manifest)
	}
}

// manager is a running "windlass manager".
type manager struct {
	*rig.Manager

	t       *testing.T
	stopped bool
}

// startManager starts a manager with the rights that it is shipped with. At the end of the test it is told to end, and the
// test fails if it does not do so in order, or if the API server has refused it anything.
func (c *cluster) startManager(t *testing.T, args ...string) *manager {
	t.Helper()
	if c.manager == "" {
		if len(args) > 0 {
			t.Skip("needs a manager with other flags than the one that runs")
		}
		return nil // the manager runs, and the test does nothing to it
	}
	log := filepath.Join(t.TempDir(), "manager.log")
	running, err := c.StartManager(t.Context(), c.manager, log, append([]string{"-v=1"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{Manager: running, t: t}
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
		if strings.Contains(line, "is forbidden: User ") { // not what admission says of somebody's pod, which a PodSet quotes
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
	code = m.end(syscall.SIGTERM)
	return code, time.Since(began)
}

// kill ends the manager as a power cut would.
func (m *manager) kill() {
	m.t.Helper()
	m.end(syscall.SIGKILL)
}

// wait waits until the manager ends by itself and returns its exit code.
func (m *manager) wait() (code int) {
	m.t.Helper()
	return m.end(syscall.Signal(0))
}

func (m *manager) end(signal syscall.Signal) (code int) {
	m.t.Helper()
	m.stopped = true
	code, err := m.End(signal, time.Minute)
	if err != nil {
		m.t.Fatal(err)
	}
	return code
}

// ready waits until the manager says that it is ready.
func (m *manager) ready() *manager {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	if err := m.Ready(ctx, pollInterval); err != nil {
		m.t.Fatal(err)
	}
	return m
}

func (m *manager) read() string {
	m.t.Helper()
	log, err := m.Log()
	if err != nil {
		m.t.Fatal(err)
	}
	return log
}

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := rig.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// patience is how long a state may take. It is long, because a machine may be slow, and costs nothing when it is not.
const patience = time.Minute

// pollInterval is how often a state is looked at.
const pollInterval = 50 * time.Millisecond

// eventually waits until check finds nothing to complain about.
func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := rig.Until(ctx, pollInterval, check); err != nil {
		t.Fatalf("not within %s: %s: %v", patience, what, err)
	}
}
