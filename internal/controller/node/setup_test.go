// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

func TestChangeOfAPoolWakesUpWhomItConcerns(t *testing.T) {
	t.Parallel()
	batch := func(nodes ...string) nodesv1.NodePoolStatus {
		return nodesv1.NodePoolStatus{Rollout: &nodesv1.RolloutStatus{Nodes: nodes}}
	}
	drains := func(drained bool, nodes ...string) nodesv1.NodePoolStatus {
		status := nodesv1.NodePoolStatus{}
		for _, node := range nodes {
			status.Draining = append(status.Draining, nodesv1.DrainingNode{Node: node, Drained: drained})
		}
		return status
	}
	cases := map[string]struct {
		before, after nodesv1.NodePoolStatus
		all           bool
		want          []string
	}{
		"counts concern nobody":                         {after: nodesv1.NodePoolStatus{NodeCount: 7}},
		"a ledger concerns everybody":                   {after: nodesv1.NodePoolStatus{Ledger: nodesv1.Ledger{Labels: []string{"a"}}}, all: true},
		"a batch concerns the nodes that are new in it": {before: batch("a", "b"), after: batch("b", "c"), want: []string{"c"}},
		"a batch that ended concerns nobody":            {before: batch("a")},
		"a drain concerns those that it begins for":     {before: drains(false, "a"), after: drains(false, "a", "b"), want: []string{"b"}},
		"and those that it ends for":                    {before: drains(false, "a"), after: drains(true, "a"), want: []string{"a"}},
		"and those that it was broken off for":          {before: drains(false, "a"), want: []string{"a"}},
		"progress of a drain concerns nobody": {
			before: drains(false, "a"), after: func() nodesv1.NodePoolStatus {
				status := drains(false, "a")
				status.Draining[0].PodsLeft = 3
				return status
			}(),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := &nodesv1.NodePool{Status: tc.before}, &nodesv1.NodePool{Status: tc.after}
			if got := changedForAll(before, after); got != tc.all {
				t.Errorf("concerns all: %t", got)
			}
			if diff := cmp.Diff(tc.want, changedFor(before, after), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("nodes differ (-want +got):\n%s", diff)
			}
			if got := poolChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != (tc.all || len(tc.want) > 0) {
				t.Errorf("let through: %t", got)
			}
		})
	}
}

func TestPoolBeginsUntilItsLedgerIsWritten(t *testing.T) {
	t.Parallel()
	pool := &nodesv1.NodePool{}
	if !begins(pool) {
		t.Error("a new pool has begun")
	}
	pool.Spec.DryRun = true
	if begins(pool) {
		t.Error("a pool in dry run is waited for")
	}
	pool = &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}}
	if begins(pool) {
		t.Error("a pool that is being deleted is waited for")
	}
	pool = &nodesv1.NodePool{Status: nodesv1.NodePoolStatus{Ledger: nodesv1.Ledger{Labels: []string{"a"}}}}
	if begins(pool) {
		t.Error("a pool with a ledger is waited for")
	}
}
