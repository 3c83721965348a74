// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

func TestPlanRollout(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ago time.Duration) *metav1.Time { return new(metav1.NewTime(now.Add(-ago))) }
	bound := func(concurrent string, pause int32, unavailable string) *nodesv1.Rollout {
		r := &nodesv1.Rollout{MaxConcurrent: intstr.Parse(concurrent), PauseSeconds: pause}
		if unavailable != "" {
			r.MaxUnavailable = new(intstr.Parse(unavailable))
		}
		return r
	}
	cases := map[string]struct {
		bound  *nodesv1.Rollout
		before *nodesv1.RolloutStatus
		nodes  aggregate
		last   string
		want   *nodesv1.RolloutStatus
		after  time.Duration
	}{
		"a pool without a bound has no batches": {nodes: aggregate{members: 2, behind: []string{"a", "b"}}},
		"nobody behind is the end": {
			bound: bound("1", 60, ""), before: &nodesv1.RolloutStatus{Nodes: []string{"a"}, TurnTime: at(0)}, nodes: aggregate{members: 2},
		},
		"the first by name begin": {
			bound: bound("2", 0, ""), nodes: aggregate{members: 3, ready: 3, behind: []string{"a", "b", "c"}},
			want: &nodesv1.RolloutStatus{Nodes: []string{"a", "b"}, WaitingNodeCount: 1, TurnTime: at(0)},
		},
		"a percentage is of the members, rounded up": {
			bound: bound("34%", 0, ""), nodes: aggregate{members: 3, ready: 3, behind: []string{"a", "b", "c"}},
			want: &nodesv1.RolloutStatus{Nodes: []string{"a", "b"}, WaitingNodeCount: 1, TurnTime: at(0)},
		},
		"no other batch begins until the last one is done": {
			bound: bound("2", 0, ""), before: &nodesv1.RolloutStatus{Nodes: []string{"a", "b"}, TurnTime: at(time.Hour)},
			nodes: aggregate{members: 4, ready: 4, behind: []string{"b", "c", "d"}},
			want:  &nodesv1.RolloutStatus{Nodes: []string{"b"}, WaitingNodeCount: 2, TurnTime: at(time.Hour)},
		},
		"a node that is gone does not hold up the others": {
			bound: bound("1", 0, ""), before: &nodesv1.RolloutStatus{Nodes: []string{"gone"}, TurnTime: at(time.Hour)},
			nodes: aggregate{members: 2, ready: 2, behind: []string{"a", "b"}},
			want:  &nodesv1.RolloutStatus{Nodes: []string{"a"}, WaitingNodeCount: 1, TurnTime: at(0)},
		},
		"the pause is waited for": {
			bound: bound("1", 60, ""), before: &nodesv1.RolloutStatus{TurnTime: at(45 * time.Second)},
			nodes: aggregate{members: 2, ready: 2, behind: []string{"b"}},
			want:  &nodesv1.RolloutStatus{WaitingNodeCount: 1, TurnTime: at(45 * time.Second)}, after: 15 * time.Second,
		},
		"after the pause it goes on": {
			bound: bound("1", 60, ""), before: &nodesv1.RolloutStatus{TurnTime: at(time.Minute)},
			nodes: aggregate{members: 2, ready: 2, behind: []string{"b"}}, want: &nodesv1.RolloutStatus{Nodes: []string{"b"}, TurnTime: at(0)},
		},
		"it goes on behind the last node, although one before is behind again": {
			bound: bound("1", 60, ""), before: &nodesv1.RolloutStatus{TurnTime: at(time.Minute)}, last: "a",
			nodes: aggregate{members: 3, ready: 3, behind: []string{"a", "b", "c"}},
			want:  &nodesv1.RolloutStatus{Nodes: []string{"b"}, WaitingNodeCount: 2, TurnTime: at(0)},
		},
		"after the last node comes the first": {
			bound: bound("2", 0, ""), before: &nodesv1.RolloutStatus{TurnTime: at(time.Minute)}, last: "b",
			nodes: aggregate{members: 3, ready: 3, behind: []string{"a", "b", "c"}},
			want:  &nodesv1.RolloutStatus{Nodes: []string{"a", "c"}, WaitingNodeCount: 1, TurnTime: at(0)},
		},
		"too many that are not Ready stop it": {
			bound: bound("1", 0, "25%"), nodes: aggregate{members: 7, ready: 5, behind: []string{"a"}}, want: &nodesv1.RolloutStatus{WaitingNodeCount: 1},
		},
		"as many as are allowed do not": {
			bound: bound("1", 0, "2"), nodes: aggregate{members: 7, ready: 5, behind: []string{"a"}},
			want: &nodesv1.RolloutStatus{Nodes: []string{"a"}, TurnTime: at(0)},
		},
		"who has a turn keeps it while too many are not Ready": {
			bound: bound("1", 0, "0"), before: &nodesv1.RolloutStatus{Nodes: []string{"a"}, TurnTime: at(time.Second)},
			nodes: aggregate{members: 2, ready: 1, behind: []string{"a", "b"}},
			want:  &nodesv1.RolloutStatus{Nodes: []string{"a"}, WaitingNodeCount: 1, TurnTime: at(time.Second)},
		},
		"a bound that cannot be read counts as one": {
			bound: bound("many", 0, ""), nodes: aggregate{members: 2, ready: 2, behind: []string{"a", "b"}},
			want: &nodesv1.RolloutStatus{Nodes: []string{"a"}, WaitingNodeCount: 1, TurnTime: at(0)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := &nodesv1.NodePool{Spec: nodesv1.NodePoolSpec{Rollout: tc.bound}, Status: nodesv1.NodePoolStatus{Rollout: tc.before}}
			got, after := planRollout(pool, &observation{nodes: tc.nodes, lastTurn: tc.last}, now)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("rollout differs (-want +got):\n%s", diff)
			}
			if after != tc.after {
				t.Errorf("looks again after %s, want %s", after, tc.after)
			}
		})
	}
}

func TestTurnsGoOnBehindTheLastNode(t *testing.T) {
	t.Parallel()
	r := &turns{}
	batch := func(nodes ...string) *nodesv1.RolloutStatus { return &nodesv1.RolloutStatus{Nodes: nodes} }
	for _, step := range []struct {
		name         string
		before, next *nodesv1.RolloutStatus
		want         string
	}{
		{name: "the first batch", next: batch("a", "b"), want: "b"},
		{name: "what is left of it", before: batch("a", "b"), next: batch("a"), want: "b"},
		{name: "the pause", before: batch("a"), next: batch(), want: "b"},
		{name: "the next one, which began with c and went on with a", before: batch(), next: batch("a", "c"), want: "a"},
		{name: "the end", before: batch("a", "c"), want: ""},
	} {
		pool := &nodesv1.NodePool{Status: nodesv1.NodePoolStatus{Rollout: step.before}}
		r.keep(pool, step.next, r.recall(pool))
		pool.Status.Rollout = nil
		if got := r.recall(pool); got != step.want {
			t.Errorf("%s ends with node %q, want %q", step.name, got, step.want)
		}
	}
	if got := r.recall(&nodesv1.NodePool{Status: nodesv1.NodePoolStatus{Rollout: batch("a", "b")}}); got != "b" {
		t.Errorf("after a restart, the batch ends with node %q", got)
	}
}
