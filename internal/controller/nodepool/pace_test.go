// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestSettleFollowsTheNodesThatAreDue(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[int]time.Duration{
		0: settleTime, 1: settleTime, 1_000: settleTime, 2_000: time.Second, 5_000: 2500 * time.Millisecond,
		6_000: longestSettle, 15_000: longestSettle, 1 << 30: longestSettle,
	} {
		if got := settle(nodes); got != want {
			t.Errorf("with %d nodes due, changes are collected for %s, want %s", nodes, got, want)
		}
	}
}

// TestLargePoolsTakeFewMoreCounts plays how nodes are written and counted: at a fixed rate, 15 times the nodes would be counted 15 times as often.
func TestLargePoolsTakeFewMoreCounts(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{100, 400, 2_000} { // nodes written in a second
		t.Run(fmt.Sprintf("%d nodes a second", rate), func(t *testing.T) {
			t.Parallel()
			small, late := counts(1_000, rate)
			large, later := counts(15_000, rate)
			if large > 5*small {
				t.Errorf("15 times the nodes take %d counts instead of %d, want at most 5 times as many", large, small)
			}
			if most := max(late, later); most > settleTime {
				t.Errorf("the last count comes %s after the last node is written, want at most %s", most, settleTime)
			}
		})
	}
}

// counts returns how often a pool is counted until all of its nodes are written, and how long after the last one it is counted last.
func counts(nodes, rate int) (times int, late time.Duration) {
	var now time.Duration
	end := time.Duration(nodes) * time.Second / time.Duration(rate)
	for left := nodes; left > 0; times++ {
		now += settle(left)
		left = nodes - int(now*time.Duration(rate)/time.Second)
	}
	return times, now - end
}

func TestDueNodesNeedNoOtherDecision(t *testing.T) {
	t.Parallel()
	evicts := func(p *nodesv1.NodePool) { p.Spec.Drain = &nodesv1.Drain{Policy: nodesv1.DrainEvict} }
	paused := func(p *nodesv1.NodePool) { p.Annotations = map[string]string{status.PausedAnnotation: "true"} }
	deleted := func(p *nodesv1.NodePool) { p.DeletionTimestamp = new(metav1.Now()) }
	cases := map[string]struct {
		with    []func(*nodesv1.NodePool)
		seen    observation
		decided decision
		want    int
	}{
		"every node that has to follow":                      {want: 3},
		"none of a paused pool":                              {with: []func(*nodesv1.NodePool){paused}},
		"all of a paused pool that is deleted":               {with: []func(*nodesv1.NodePool){paused, deleted}, want: 3},
		"none in a dry run":                                  {with: []func(*nodesv1.NodePool){func(p *nodesv1.NodePool) { p.Spec.DryRun = true }}},
		"none that the brake holds":                          {decided: decision{held: []string{"a"}}},
		"none that pods keep":                                {with: []func(*nodesv1.NodePool){deleted}, seen: observation{users: 1}},
		"none of a batch, after which the next one begins":   {decided: decision{rollout: &nodesv1.RolloutStatus{Nodes: []string{"a"}}}},
		"all of a pool that is deleted in a rollout":         {with: []func(*nodesv1.NodePool){deleted}, decided: decision{rollout: &nodesv1.RolloutStatus{}}, want: 3},
		"none while nodes are drained, which makes room":     {with: []func(*nodesv1.NodePool){evicts}, seen: observation{nodes: aggregate{leaving: []string{"a"}}}},
		"all of a pool that drains, while no node leaves it": {with: []func(*nodesv1.NodePool){evicts}, want: 3},
		"those that leave a pool that drains none":           {seen: observation{nodes: aggregate{leaving: []string{"a"}}}, want: 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			for _, set := range tc.with {
				set(pool)
			}
			tc.seen.nodes.pending = []string{"a", "b", "c"}
			if got := due(pool, &tc.seen, tc.decided); got != tc.want {
				t.Errorf("%d nodes are due, want %d", got, tc.want)
			}
		})
	}
}

func TestEachPoolHasItsPace(t *testing.T) {
	t.Parallel()
	p := &pace{}
	p.keep("large", 4_000)
	p.keep("small", 10)
	for pool, want := range map[string]time.Duration{"large": 2 * time.Second, "small": settleTime, "unknown": settleTime} {
		if got := p.settle(pool); got != want {
			t.Errorf("changes of pool %s are collected for %s, want %s", pool, got, want)
		}
	}
	p.drop("large")
	if got := p.settle("large"); got != settleTime {
		t.Errorf("changes of a pool that came again are collected for %s, want %s", got, settleTime)
	}
}

// TestChangedNodesWakeEachPoolAtItsPace sees what the handler of nodes puts into the queue.
func TestChangedNodesWakeEachPoolAtItsPace(t *testing.T) {
	t.Parallel()
	r := &Reconciler{cache: poolCache{pools: []*nodesv1.NodePool{build.Pool("large").Obj(), build.Pool("small").Obj()}}}
	r.pace.keep("large", 4_000)
	q := &delays{of: map[string]time.Duration{}}
	node := build.Node("n").Role("large").Role("small").Obj()
	r.poolsOfNode().Update(t.Context(), event.UpdateEvent{ObjectOld: node, ObjectNew: node}, q)
	want := map[string]time.Duration{"large": 2 * time.Second, "small": settleTime}
	if diff := cmp.Diff(want, q.of); diff != "" {
		t.Errorf("pools are woken after other times (-want +got):\n%s", diff)
	}
}

// TestNodeThatShowsNothingWakesThePoolsThatWaitForIt: a node that matched a pool with a bounded rollout never joined, because the node waited
// for its batch and the pool was not woken to begin one. One whose patches were refused was not counted, and its pool was Ready.
func TestNodeThatShowsNothingWakesThePoolsThatWaitForIt(t *testing.T) {
	t.Parallel()
	bounded := func(p *nodesv1.NodePool) { p.Spec.Rollout = &nodesv1.Rollout{MaxConcurrent: intstr.FromInt32(1)} }
	cases := map[string]struct {
		pool *build.PoolBuilder
		want bool
	}{
		"one that has to begin a batch":      {pool: build.Pool("p").Selects("zone", "a").With(bounded), want: true},
		"one that selects it by its address": {pool: build.Pool("p").CIDR("10.20.0.0/16").With(bounded), want: true},
		"one that is paused and counts it":   {pool: build.Pool("p").Selects("zone", "a").Paused(), want: true},
		"one that rehearses":                 {pool: build.Pool("p").Selects("zone", "a").DryRun(), want: true},
		"not one that selects other nodes":   {pool: build.Pool("p").Selects("zone", "b").With(bounded)},
		"one that cannot write it":           {pool: build.Pool("p").Selects("zone", "a"), want: true},
		"not one that selects none":          {pool: build.Pool("p")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &Reconciler{cache: poolCache{pools: []*nodesv1.NodePool{tc.pool.Obj()}}}
			for what, wake := range map[string]func(*delays){
				"a new node": func(q *delays) {
					r.poolsOfNode().Create(t.Context(), event.CreateEvent{Object: matching()}, q)
				},
				"a node that matches since": func(q *delays) {
					r.poolsOfNode().Update(t.Context(), event.UpdateEvent{ObjectOld: build.Node("n").Obj(), ObjectNew: matching()}, q)
				},
				"a node that matched until now": func(q *delays) {
					r.poolsOfNode().Update(t.Context(), event.UpdateEvent{ObjectOld: matching(), ObjectNew: build.Node("n").Obj()}, q)
				},
				"a node that is gone": func(q *delays) {
					r.poolsOfNode().Delete(t.Context(), event.DeleteEvent{Object: matching()}, q)
				},
			} {
				q := &delays{of: map[string]time.Duration{}}
				wake(q)
				if _, got := q.of["p"]; got != tc.want {
					t.Errorf("%s wakes the pool: %t, want %t", what, got, tc.want)
				}
			}
		})
	}
}

// matching is a node in zone a.
func matching() *corev1.Node { return build.Node("n").Label("zone", "a").Address("10.20.1.2").Obj() }

// TestAttackInventedPoolsFillTheQueue: each name in the record of a node was a pass, of which a kubelet could ask for thousands with each write.
func TestAttackInventedPoolsFillTheQueue(t *testing.T) {
	t.Parallel()
	record := membership.Record{"small": {Labels: []string{"a"}}}
	for i := range 900 {
		record[fmt.Sprint("invented-", i)] = membership.Entry{Labels: []string{"a"}}
	}
	r := &Reconciler{cache: poolCache{pools: []*nodesv1.NodePool{build.Pool("large").Obj(), build.Pool("small").Obj()}}}
	q := &delays{of: map[string]time.Duration{}}
	r.poolsOfNode().Create(t.Context(), event.CreateEvent{Object: build.Node("n").Annotation(nodesv1.AppliedAnnotation, record.String()).Obj()}, q)
	if diff := cmp.Diff(map[string]time.Duration{"small": settleTime}, q.of); diff != "" {
		t.Errorf("other pools are woken (-want +got):\n%s", diff)
	}
}

// poolCache is a cache with these pools.
type poolCache struct {
	client.Reader

	pools []*nodesv1.NodePool
}

func (c poolCache) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	if list, ok := into.(*nodesv1.NodePoolList); ok {
		for _, pool := range c.pools {
			list.Items = append(list.Items, *pool)
		}
	}
	return nil
}

// delays is a queue that notes after which time pools were added.
type delays struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	of map[string]time.Duration
}

func (d *delays) AddAfter(request reconcile.Request, after time.Duration) { d.of[request.Name] = after }
