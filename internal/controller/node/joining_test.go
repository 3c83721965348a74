// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// TestADeletedNodeWaitsForEver: no pass looked at a node that was deleted while it waited, and the next one of its name was said to have waited since then.
func TestADeletedNodeWaitsForEver(t *testing.T) {
	t.Parallel()
	node := build.Node("a").UID("first").Obj()
	if !nodeChanged().Delete(event.DeleteEvent{Object: node}) {
		t.Error("the end of a node wakes nobody: what is kept about it is never forgotten")
	}
	j := &joining{}
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	j.observe(node, []string{"gpu"}, noon)
	next := build.Node("a").UID("second").Obj()
	if since := j.observe(next, []string{"gpu"}, noon.Add(time.Hour)); !since.Equal(noon.Add(time.Hour)) {
		t.Errorf("a new node waits since %s", since)
	}
	if since := j.observe(next, []string{"cpu"}, noon.Add(2*time.Hour)); !since.Equal(noon.Add(time.Hour)) {
		t.Errorf("a node that goes on to wait waits since %s", since)
	}
	if j.drop("a"); len(j.since) > 0 {
		t.Errorf("of nodes that are gone, there is %v", j.since)
	}
}
