// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit/build"
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

// TestAttackRecordsTripTheBrakeOfAPoolThatDrains plays passes over a pool of six nodes that no node has left. The first pass entered those that claimed to
// leave into the status, as nodes to be drained, and the next took the entry for more than their kubelets' word.
func TestAttackRecordsTripTheBrakeOfAPoolThatDrains(t *testing.T) {
	t.Parallel()
	type pass struct{ held, cleared, entered []string }
	lost := func(p *nodesv1.NodePool) { p.Status.Ledger = nodesv1.Ledger{} }
	tainted := func(n *corev1.Node) {
		n.Annotations[nodesv1.AppliedAnnotation] = `{"gpu":{"labels":["env"],"taints":["gpu:NoSchedule"]}}`
		n.Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
	}
	plain, three := func(*corev1.Node) {}, numbered(3)
	cases := map[string]struct {
		pool    func(*nodesv1.NodePool)
		leaving func(*corev1.Node)
		want    []pass
	}{
		"they are neither held nor drained":   {pool: func(*nodesv1.NodePool) {}, leaving: plain, want: []pass{{cleared: three}, {cleared: three}}},
		"they wait for a ledger that is lost": {pool: lost, leaving: plain, want: []pass{{}, {cleared: three}}},
		"nodes that were being drained when it was lost are known by their taints then": {
			pool: lost, leaving: tainted, want: []pass{{}, {held: three}},
		},
		"they are drained as all nodes of a pool that is being deleted": {
			pool: func(p *nodesv1.NodePool) { p.DeletionTimestamp = new(metav1.Unix(1, 0)) }, leaving: plain, want: []pass{{entered: numbered(9)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := build.Pool("gpu").Finalizer(nodesv1.Finalizer).Label("env", "dev").Taint("gpu", "yes", corev1.TaintEffectNoSchedule).Obj()
			pool.Spec.Drain = &nodesv1.Drain{Policy: nodesv1.DrainEvict}
			pool.Status.Ledger = membership.Wanted(pool)
			tc.pool(pool)
			var nodes []corev1.Node
			for i, name := range numbered(9) {
				node := build.Node(name).UID(types.UID(name)).Label("env", "dev").Annotation(nodesv1.AppliedAnnotation, `{"gpu":{"labels":["env"]}}`)
				if i < len(three) {
					node.With(tc.leaving)
				} else {
					node.Member("gpu")
				}
				nodes = append(nodes, *node.Obj())
			}
			for i, want := range tc.want {
				prepared, err := membership.NewPool(pool)
				if err != nil {
					t.Fatal(err)
				}
				pools := membership.Pools{"gpu": prepared}
				seen := &observation{nodes: sumUp("gpu", nodes, pools, func(n *corev1.Node) finding { return find("gpu", n, pools) })}
				for _, entry := range pool.Status.Draining { // no pod is there to be evicted
					seen.draining = append(seen.draining, draining{entry: entry, carries: true, reported: true, progress: clearance.Progress{Done: true}})
				}
				d := decide(pool, seen, time.Unix(0, 0))
				got := pass{held: d.held, cleared: d.cleared}
				for _, entry := range d.draining {
					got.entered = append(got.entered, entry.Node)
				}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(pass{}), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("pass %d (-want +got):\n%s", i+1, diff)
				}
				pool.Status.Draining, pool.Status.Ledger = d.draining, d.ledger
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
