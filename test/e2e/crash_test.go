// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// crashNodes is how many nodes a pool has while its manager is killed.
const crashNodes = 50

// TestKillInTheMiddle kills the manager while it puts a pool on its nodes, and again while it takes it off. Whatever it had
// done by then, the next one finishes.
func TestKillInTheMiddle(t *testing.T) {
	c := need(t)
	var nodes []string
	before := map[string]surface{}
	for i := range crashNodes {
		name := nodeName(nodeCount - 1 - i)
		nodes = append(nodes, name)
		before[name] = c.snapshot(t, name)
	}
	c.join(t, "crash", nodes...)

	// One worker, so that there is a middle; one identity, so that its successor need not wait for the Lease to run out.
	slow := []string{"--threads=1", "--holder-identity=crash"}
	first := c.startManager(t, slow...)
	c.killWhen(t, first, carries, func() { c.apply(t, pool("crash", "1")) })
	t.Logf("killed with the pool on %d of %d nodes", c.carrying(t), crashNodes)

	second := c.startManager(t, slow...)
	c.poolReady(t, "crash", crashNodes)
	if got := c.carrying(t); got != crashNodes {
		t.Errorf("the pool is ready and on %d nodes, want %d", got, crashNodes)
	}

	c.killWhen(t, second, func(node *corev1.Node) bool { return member(node) && !carries(node) }, func() {
		c.do(t, "delete", "wnp", "crash", "--wait=false")
	})
	t.Logf("killed with the pool still on %d of %d nodes", c.carrying(t), crashNodes)

	c.startManager(t, slow...)
	c.do(t, "wait", "--for=delete", "wnp/crash", "--timeout=60s")
	for _, name := range nodes {
		was := before[name].with(map[string]string{nodesv1.RoleLabel("crash"): ""})
		c.becomes(t, name, was, false)
	}
	c.classGone(t, "crash")
}

func member(node *corev1.Node) bool {
	_, ok := node.Labels[nodesv1.RoleLabel("crash")]
	return ok
}

func carries(node *corev1.Node) bool {
	return node.Labels["node-pool.lailin.xyz/crash"] == "1"
}

// killWhen begins something and kills the manager when the condition has come to hold for a third of the nodes.
func (c *cluster) killWhen(t *testing.T, m *manager, condition func(*corev1.Node) bool, begin func()) {
	t.Helper()
	m.ready()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	seen, err := c.Client.Watch(ctx, &corev1.NodeList{})
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Stop()
	begin()
	reached := map[string]bool{}
	for event := range seen.ResultChan() {
		node, ok := event.Object.(*corev1.Node)
		if !ok || event.Type != watch.Modified || !condition(node) {
			continue
		}
		if reached[node.Name] = true; len(reached) == crashNodes/3 {
			m.kill()
			return
		}
	}
	t.Fatalf("not within %s: the manager begins to write nodes", patience)
}

// carrying counts the nodes that carry the pool.
func (c *cluster) carrying(t *testing.T) int {
	t.Helper()
	return len(strings.Fields(c.do(t, "get", "nodes", "-l", "node-pool.lailin.xyz/crash=1", "-o", "name")))
}
