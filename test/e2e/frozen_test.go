// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// thawed bounds how long a deposed leader may live: one period of the election until it reads the Lease, on a busy machine. Without
// the fence it lives for the ten seconds after which an election gives up.
const thawed = 9 * time.Second

// TestAFrozenLeaderChangesNothing stops a leader for longer than its lease, lets its successor take the pool away that the leader
// knows, and lets the leader go on: with its old caches it would put everything back.
func TestAFrozenLeaderChangesNothing(t *testing.T) {
	c := need(t)
	first := c.startManager(t, "--holder-identity=frozen")
	c.leads(t, "frozen")
	before := c.snapshot(t, nodeName(6))
	c.join(t, "frost", nodeName(6))
	c.apply(t, pool("frost", "1"))
	c.poolReady(t, "frost", 1)

	freeze := func(signal syscall.Signal) {
		if err := first.Signal(signal); err != nil {
			t.Error(err)
		}
	}
	freeze(syscall.SIGSTOP)
	t.Cleanup(func() { freeze(syscall.SIGCONT) }) // or a test that fails leaves a process that does not end
	second := c.startManager(t, "--holder-identity=successor").ready()
	c.leads(t, "successor")
	c.remove(t, "wnp", "frost")
	c.do(t, "label", "node", nodeName(6), "node-role.kubernetes.io/frost-")
	c.becomes(t, nodeName(6), before, false)
	version := c.version(t, nodeName(6))

	begin := time.Now()
	freeze(syscall.SIGCONT)
	want := "this instance stops, because another one can take over\n"
	if code := first.wait(); code != 1 || !strings.HasSuffix(first.read(), want) || time.Since(begin) > thawed {
		t.Errorf("the deposed leader ended with code %d after %s, want 1 within %s and the last line to end in %q",
			code, time.Since(begin), thawed, want)
	}
	if now := c.version(t, nodeName(6)); now != version {
		t.Errorf("the node was written to: resourceVersion %s, was %s", now, version)
	}
	if code, _ := second.stop(); code != 0 {
		t.Errorf("the successor ended with code %d", code)
	}
}

// version returns the version of what Windlass writes of a node.
func (c *cluster) version(t *testing.T, name string) string {
	t.Helper()
	return c.do(t, "get", "node", name, "-o", `jsonpath={.metadata.managedFields[?(@.manager=="windlass")].time}`)
}
