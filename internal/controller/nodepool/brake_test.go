// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

func TestPlanBrake(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		leaving, carrying int
		acknowledged      string
		want              bool
	}{
		"two nodes may always leave":                                  {leaving: 2, carrying: 2},
		"three of nine are too many":                                  {leaving: 3, carrying: 9, want: true},
		"three of ten may leave":                                      {leaving: 3, carrying: 10},
		"all of a large pool are too many":                            {leaving: 1000, carrying: 1000, want: true},
		"an acknowledgement of this generation lets them":             {leaving: 9, carrying: 9, acknowledged: "4"},
		"an acknowledgement of an earlier generation is for that one": {leaving: 9, carrying: 9, acknowledged: "3", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leaving := numbered(tc.leaving)
			held, _ := planBrake(acknowledgedPool(tc.acknowledged), &observation{nodes: leave(tc.carrying, leaving...)})
			if !tc.want {
				leaving = nil
			}
			if diff := cmp.Diff(leaving, held, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("nodes that the brake holds differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAttackRecordsTripTheBrake: machines that were never in a pool wrote that they were, and the brake held those that left.
func TestAttackRecordsTripTheBrake(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		carrying         int
		leaving, claimed []string
		want             []string
	}{
		"three that only claim to leave":    {carrying: 9, leaving: numbered(3), claimed: numbered(3)},
		"one of them beside two that leave": {carrying: 9, leaving: numbered(3), claimed: numbered(1)},
		"they hold nobody":                  {carrying: 9, leaving: numbered(5), claimed: numbered(1), want: numbered(5)[1:]},
		"many that claim to be in the pool": {carrying: 100, leaving: numbered(99)[:3], claimed: numbered(99)[3:], want: numbered(99)[:3]},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := leave(tc.carrying, tc.leaving...)
			nodes.carrying, nodes.claimed = numbered(tc.carrying), tc.claimed
			held, _ := planBrake(acknowledgedPool(""), &observation{nodes: nodes})
			if diff := cmp.Diff(tc.want, held, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("nodes that the brake holds differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAcknowledgementIsForTheNodesThatWereLeaving plays passes over a pool of ten nodes. As long as one of the nodes was still being drained that
// a person had let go, the brake held no other node.
func TestAcknowledgementIsForTheNodesThatWereLeaving(t *testing.T) {
	t.Parallel()
	type pass struct {
		acknowledged string
		generation   int64 // 4 if it is not set
		carrying     int   // 10 if it is not set
		leaving      []string
		held         []string
		taken        bool
	}
	first, all := []string{"0", "1", "2", "3"}, numbered(10)
	cases := map[string][]pass{
		"others that leave meanwhile are held, and the first ones are not": {
			{leaving: first, held: first},
			{leaving: first, acknowledged: "4"},
			{leaving: first, acknowledged: "4"},
			{leaving: all, acknowledged: "4", held: all[4:], taken: true},
			{leaving: all, held: all[4:]},
		},
		"they can be acknowledged again": {
			{leaving: first, acknowledged: "4"},
			{leaving: all, acknowledged: "4", held: all[4:], taken: true},
			{leaving: all, held: all[4:]},
			{leaving: all, acknowledged: "4"},
			{leaving: all, acknowledged: "4"},
		},
		"two others may leave": {{leaving: first, acknowledged: "4"}, {leaving: all[:6], acknowledged: "4"}},
		"three of those that are left are too many": {
			{leaving: first, acknowledged: "4"}, {leaving: all[:7], acknowledged: "4", held: all[4:7], taken: true},
		},
		"a node that came back and leaves again is another one": {
			{leaving: first, acknowledged: "4"},
			{leaving: first[:1], acknowledged: "4"},
			{leaving: first, acknowledged: "4", held: first[1:], taken: true},
		},
		"one that is given before the nodes leave is for them":  {{acknowledged: "4", leaving: first}},
		"one that is taken back lets nobody go":                 {{leaving: first, acknowledged: "4"}, {leaving: first, held: first}},
		"one of an earlier generation is for that one":          {{leaving: first, acknowledged: "4"}, {leaving: first, acknowledged: "4", generation: 5, held: first}},
		"it is taken off when they have left, and means nobody": {{leaving: first, acknowledged: "4"}, {acknowledged: "4", carrying: 6, taken: true}, {leaving: all[4:7], carrying: 6, held: all[4:7]}},
	}
	for name, passes := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := consent{}
			for i, p := range passes {
				pool := acknowledgedPool(p.acknowledged)
				pool.Generation = max(pool.Generation, p.generation)
				if p.carrying == 0 {
					p.carrying = 10
				}
				seen := &observation{nodes: leave(p.carrying, p.leaving...), consent: known}
				d := decision{}
				d.held, d.consent = planBrake(pool, seen)
				if diff := cmp.Diff(p.held, d.held, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("pass %d: nodes that the brake holds differ (-want +got):\n%s", i, diff)
				}
				if got := usedUp(pool, seen.nodes, d.held); got != p.taken {
					t.Fatalf("pass %d: the acknowledgement is used up: %t, want %t", i, got, p.taken)
				}
				if known = d.consent; p.taken {
					known = known.taken()
				}
			}
		})
	}
}

// TestAcknowledgementAfterARestart holds what a process that has just started makes of an acknowledgement that it finds.
func TestAcknowledgementAfterARestart(t *testing.T) {
	t.Parallel()
	all := numbered(10)
	drained := func(names ...string) func(*nodesv1.NodePool) {
		return func(p *nodesv1.NodePool) {
			p.Spec.Drain = &nodesv1.Drain{Policy: nodesv1.DrainEvict}
			for _, name := range names {
				p.Status.Draining = append(p.Status.Draining, nodesv1.DrainingNode{Node: name, UID: types.UID(name)})
			}
		}
	}
	braked := func(p *nodesv1.NodePool) {
		p.Status.Conditions = []metav1.Condition{{Type: nodesv1.ConditionSafetyBrake, Status: metav1.ConditionTrue}}
	}
	many := numbered(nodesv1.MaxDraining)
	cases := map[string]struct {
		with    []func(*nodesv1.NodePool)
		leaving []string
		held    []string
	}{
		"the nodes that are being drained go on":                       {with: []func(*nodesv1.NodePool){drained(all[:4]...)}, leaving: all[:4]},
		"those that have left meanwhile are held":                      {with: []func(*nodesv1.NodePool){drained(all[:4]...)}, leaving: all, held: all[4:]},
		"all go if the brake held them until then":                     {with: []func(*nodesv1.NodePool){drained(), braked}, leaving: all},
		"all go if more may be waiting for room than are drained":      {with: []func(*nodesv1.NodePool){drained(many...)}, leaving: numbered(300)},
		"all go where none is drained, which takes only a few moments": {leaving: all},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := acknowledgedPool("4")
			for _, change := range tc.with {
				change(pool)
			}
			known := (&consents{}).recall(pool)
			held, _ := planBrake(pool, &observation{nodes: leave(len(tc.leaving), tc.leaving...), consent: known})
			if diff := cmp.Diff(tc.held, held, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("nodes that the brake holds differ (-want +got):\n%s", diff)
			}
		})
	}
}

func acknowledgedPool(generation string) *nodesv1.NodePool {
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", Generation: 4}}
	if generation != "" {
		pool.Annotations = map[string]string{nodesv1.AcknowledgeAnnotation: generation}
	}
	return pool
}

// leave returns what a count finds where so many nodes carry a pool and these are leaving it.
func leave(carrying int, leaving ...string) aggregate {
	nodes := aggregate{carrying: make([]string, carrying), leaving: leaving, uids: map[string]types.UID{}}
	for _, name := range leaving {
		nodes.uids[name] = types.UID(name)
	}
	return nodes
}

// numbered returns the names of nodes, sorted.
func numbered(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	slices.Sort(list)
	return list
}
