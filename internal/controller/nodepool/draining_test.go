// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
)

func TestPlanDraining(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	entry := func(name string, changes ...func(*nodesv1.DrainingNode)) nodesv1.DrainingNode {
		e := nodesv1.DrainingNode{Node: name, UID: types.UID(name), StartTime: metav1.NewTime(now)}
		for _, change := range changes {
			change(&e)
		}
		return e
	}
	drained := func(e *nodesv1.DrainingNode) { e.Drained = true }
	left := func(pods int32, blocked ...string) func(*nodesv1.DrainingNode) {
		return func(e *nodesv1.DrainingNode) { e.PodsLeft, e.Blocked = pods, blocked }
	}
	leaving := func(names ...string) aggregate {
		nodes := aggregate{leaving: names, uids: map[string]types.UID{}}
		for _, name := range names {
			nodes.uids[name] = types.UID(name)
		}
		return nodes
	}
	pool := func(changes ...func(*nodesv1.NodePool)) *nodesv1.NodePool {
		p := &nodesv1.NodePool{Spec: nodesv1.NodePoolSpec{Drain: &nodesv1.Drain{Policy: nodesv1.DrainEvict}}}
		for _, change := range changes {
			change(p)
		}
		return p
	}
	deleted := func(p *nodesv1.NodePool) { p.DeletionTimestamp = new(metav1.NewTime(now)) }
	cases := map[string]struct {
		pool     *nodesv1.NodePool
		seen     observation
		held     []string
		want     []nodesv1.DrainingNode
		timedOut []nodesv1.DrainingNode
	}{
		"a node that left is entered": {
			pool: pool(), seen: observation{nodes: leaving("b", "a")}, want: []nodesv1.DrainingNode{entry("a"), entry("b")},
		},
		"not under the brake": {pool: pool(), seen: observation{nodes: leaving("a")}, held: []string{"a"}},
		"a drain that has begun goes on under the brake": {
			pool: pool(), seen: observation{nodes: leaving("a", "b"), draining: []draining{{entry: entry("a")}}}, held: []string{"a", "b"},
			want: []nodesv1.DrainingNode{entry("a")},
		},
		"one that the brake does not hold is entered beside those that it does": {
			pool: pool(), seen: observation{nodes: leaving("a", "b", "c")}, held: []string{"a", "c"}, want: []nodesv1.DrainingNode{entry("b")},
		},
		"a pool that does not drain enters no node, and drops those that it has": {
			pool: pool(func(p *nodesv1.NodePool) { p.Spec.Drain = nil }),
			seen: observation{nodes: leaving("a"), draining: []draining{{entry: entry("b")}}},
		},
		"what was reported is written down": {
			pool: pool(),
			seen: observation{draining: []draining{{
				entry: entry("a"), reported: true, progress: clearance.Progress{PodsLeft: 3, Blocked: []string{"x/y"}, Refusal: "no"},
			}}},
			want: []nodesv1.DrainingNode{entry("a", left(3, "x/y"), func(e *nodesv1.DrainingNode) { e.Refusal = "no" })},
		},
		"without a report, as after a start, it stays": {
			pool: pool(), seen: observation{draining: []draining{{entry: entry("a", left(3, "x/y"))}}},
			want: []nodesv1.DrainingNode{entry("a", left(3, "x/y"))},
		},
		"a drain that timed out is told once": {
			pool: pool(),
			seen: observation{draining: []draining{
				{entry: entry("a"), reported: true, progress: clearance.Progress{PodsLeft: 1, Done: true, TimedOut: true}},
				{entry: entry("b", drained), carries: true, reported: true, progress: clearance.Progress{Done: true, TimedOut: true}},
			}},
			want:     []nodesv1.DrainingNode{entry("a", left(1), drained), entry("b", drained)},
			timedOut: []nodesv1.DrainingNode{entry("a", left(1), drained)},
		},
		"a drained node is kept until it carries nothing": {
			pool: pool(),
			seen: observation{draining: []draining{{entry: entry("a", drained), carries: true}, {entry: entry("b", drained)}}},
			want: []nodesv1.DrainingNode{entry("a", drained)},
		},
		"a node that is gone is dropped": {pool: pool(), seen: observation{draining: []draining{{entry: entry("a"), gone: true}}}},
		"a node that came back is dropped": {
			pool: pool(), seen: observation{nodes: aggregate{memberNodes: []string{"a"}}, draining: []draining{{entry: entry("a")}}},
		},
		"a member of a pool that is being deleted is not": {
			pool: pool(deleted), seen: observation{nodes: aggregate{memberNodes: []string{"a"}}, draining: []draining{{entry: entry("a")}}},
			want: []nodesv1.DrainingNode{entry("a")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries, timedOut := planDraining(tc.pool, &tc.seen, tc.held, now)
			if diff := cmp.Diff(tc.want, entries, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("entries differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.timedOut, timedOut, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("nodes whose time is over differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoMoreNodesAreDrainedThanAStatusHolds(t *testing.T) {
	t.Parallel()
	nodes := aggregate{uids: map[string]types.UID{}}
	for i := range 3 * nodesv1.MaxDraining {
		name := string(rune('a'+i%26)) + string(rune('a'+i/26))
		nodes.leaving, nodes.uids[name] = append(nodes.leaving, name), types.UID(name)
	}
	pool := &nodesv1.NodePool{Spec: nodesv1.NodePoolSpec{Drain: &nodesv1.Drain{Policy: nodesv1.DrainEvict}}}
	if entries, _ := planDraining(pool, &observation{nodes: nodes}, nil, time.Unix(0, 0)); len(entries) != nodesv1.MaxDraining {
		t.Errorf("%d nodes are drained at a time", len(entries))
	}
}

func TestPlanClearances(t *testing.T) {
	t.Parallel()
	drains := func(p *nodesv1.NodePool) { p.Spec.Drain = &nodesv1.Drain{Policy: nodesv1.DrainEvict} }
	deleted := func(p *nodesv1.NodePool) { p.DeletionTimestamp = new(metav1.Unix(1, 0)) }
	nodes := aggregate{leaving: []string{"a", "b"}, carrying: []string{"a", "b", "c"}}
	cases := map[string]struct {
		pool    []func(*nodesv1.NodePool)
		users   int32
		decided decision
		want    []string
	}{
		"nodes that left may go":          {want: []string{"a", "b"}},
		"not while the brake holds them":  {decided: decision{held: []string{"a", "b"}}},
		"but those that it does not hold": {decided: decision{held: []string{"b"}}, want: []string{"a"}},
		"where they are drained first, those that are": {
			pool:    []func(*nodesv1.NodePool){drains},
			decided: decision{draining: []nodesv1.DrainingNode{{Node: "a"}, {Node: "b", Drained: true}}}, want: []string{"b"},
		},
		"every node of a pool that is being deleted": {pool: []func(*nodesv1.NodePool){deleted}, want: []string{"a", "b", "c"}},
		"not while pods use it":                      {pool: []func(*nodesv1.NodePool){deleted}, users: 1},
		"those that are drained, where it drains its nodes": {
			pool:    []func(*nodesv1.NodePool){deleted, drains},
			decided: decision{draining: []nodesv1.DrainingNode{{Node: "a", Drained: true}, {Node: "b"}}}, want: []string{"a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := &nodesv1.NodePool{}
			for _, change := range tc.pool {
				change(pool)
			}
			got := planClearances(pool, &observation{nodes: nodes, users: tc.users}, tc.decided)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("clearances differ (-want +got):\n%s", diff)
			}
		})
	}
}
