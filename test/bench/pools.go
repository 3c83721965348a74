// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/test/rig"
)

// manyPools is how many pools there are in the scenario pools; each node is in two of them.
const manyPools = 10

func manyPoolName(i int) string { return fmt.Sprintf("bench-%d", i%manyPools) }

func newManyPool(i int) *nodesv1.NodePool {
	return &nodesv1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: manyPoolName(i)},
		Spec:       nodesv1.NodePoolSpec{Labels: map[string]nodesv1.LabelValue{tierLabel(manyPoolName(i)): "gold"}},
	}
}

func tierLabel(pool string) string { return "node-pool.lailin.xyz/" + pool }

// inTwoPools puts a node into two pools that lie side by side.
func inTwoPools(node *corev1.Node, i int) {
	delete(node.Labels, nodesv1.RoleLabel(poolName))
	node.Labels[nodesv1.RoleLabel(manyPoolName(i))] = ""
	node.Labels[nodesv1.RoleLabel(manyPoolName(i+1))] = ""
}

// tier reports whether the node has the value for every pool that it is in.
func tier(value func(pool string) string) func(*corev1.Node) bool {
	return func(node *corev1.Node) bool {
		for i := range manyPools {
			pool := manyPoolName(i)
			_, member := node.Labels[nodesv1.RoleLabel(pool)]
			if member && node.Labels[tierLabel(pool)] != value(pool) {
				return false
			}
		}
		return true
	}
}

// pools measures many pools with nodes in two of them each: all applied at once, one changed, and nothing happening.
func pools(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	n := b.options.Nodes
	s := section{Title: fmt.Sprintf("%d pools on %d nodes, each node in two of them", manyPools, n)}
	if r.ownNodes > 0 {
		return s, errors.New("the scenario pools needs nodes of its own: run it alone")
	}
	b.tell("      adding %d nodes", n)
	index := map[string]int{}
	for i := range n {
		index[nodeName(i)] = i
	}
	if err := r.addNodes(ctx, n, func(node *corev1.Node) { inTwoPools(node, index[node.Name]) }); err != nil {
		return s, err
	}
	p := &poolsBench{plane: r, nodes: n, out: &s}
	return s, p.measure(ctx)
}

// poolsBench is the state of the scenario.
type poolsBench struct {
	plane *controlPlane
	nodes int
	out   *section
}

func (p *poolsBench) measure(ctx context.Context) error {
	floor, err := p.floor(ctx)
	if err != nil {
		return err
	}
	m, err := p.plane.startManager(ctx)
	if err != nil {
		return err
	}
	used := rig.CPUTime(m.PID)
	applied, wrote, err := p.until(ctx, tier(func(string) string { return tierGold }), p.createPools)
	if err != nil {
		return err
	}
	p.out.note("applying all pools took %.1f s, the floor (a bare loop of the same patches) %.1f s: ratio %.2f, aim 1.1 or less",
		applied.Seconds(), floor.Seconds(), applied.Seconds()/floor.Seconds())
	p.out.note("CPU of windlass: %.2f ms a node", float64((rig.CPUTime(m.PID)-used).Milliseconds())/float64(p.nodes))
	p.out.note("patches of nodes: %d, that is %.2f a node", wrote.sum(by(agentWindlass), to("nodes")),
		float64(wrote.sum(by(agentWindlass), to("nodes")))/float64(p.nodes))
	if err := p.allReady(ctx); err != nil {
		return err
	}
	if err := p.changeOne(ctx); err != nil {
		return err
	}
	if err := p.rest(ctx, m); err != nil {
		return err
	}
	if err := m.stop(); err != nil {
		return err
	}
	return p.restart(ctx)
}

// floor sends each node the very patch that the manager would send, and takes it off again.
func (p *poolsBench) floor(ctx context.Context) (time.Duration, error) {
	bare, err := client.New(as(p.plane.account, agentFloor), client.Options{Scheme: p.plane.scheme})
	if err != nil {
		return 0, fmt.Errorf("cannot make a client: %w", err)
	}
	all := &nodesv1.NodePoolList{}
	for i := range manyPools {
		pool := newManyPool(i)
		pool.UID, pool.Finalizers, pool.Status.Ledger = types.UID(pool.Name), []string{nodesv1.Finalizer}, membership.Wanted(pool)
		all.Items = append(all.Items, *pool)
	}
	var took time.Duration
	for _, value := range []string{"gold", ""} {
		var nodes corev1.NodeList
		if err := p.plane.cache.List(ctx, &nodes); err != nil {
			return 0, fmt.Errorf("cannot list nodes: %w", err)
		}
		patches := make([][]byte, len(nodes.Items))
		for i := range nodes.Items {
			plan := membership.NewPlan(&nodes.Items[i], membership.NewPools(all))
			if patches[i], err = plan.MergePatch(&nodes.Items[i]); err != nil {
				return 0, err
			}
		}
		spent, _, err := p.until(ctx, tier(func(string) string { return value }), func(ctx context.Context) error {
			return forEach(ctx, threads, len(patches), func(ctx context.Context, i int) error {
				target := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodes.Items[i].Name}}
				return bare.Patch(ctx, target, client.RawPatch(types.MergePatchType, patches[i]))
			})
		})
		if err != nil {
			return 0, err
		}
		if took == 0 {
			took = spent
		}
		for i := range all.Items {
			all.Items[i].DeletionTimestamp = new(metav1.Now())
		}
	}
	return took, nil
}

// until measures how long it takes from begin until every node is in the state, and what was written.
func (p *poolsBench) until(
	ctx context.Context, want func(*corev1.Node) bool, begin func(context.Context) error,
) (time.Duration, writes, error) {
	done, err := p.plane.await(ctx, &corev1.Node{}, p.nodes, func(object client.Object) bool {
		node, ok := object.(*corev1.Node)
		return ok && want(node)
	})
	if err != nil {
		return 0, nil, err
	}
	defer done.Cancel()
	mark, err := p.plane.audit.mark()
	if err != nil {
		return 0, nil, err
	}
	start := time.Now()
	if err := begin(ctx); err != nil {
		return 0, nil, err
	}
	at, err := done.Wait(ctx, patience)
	if err != nil {
		return 0, nil, err
	}
	if err := p.plane.audit.quiet(ctx, agentWindlass, time.Second); err != nil {
		return 0, nil, err
	}
	wrote, err := p.plane.audit.since(mark)
	return at.Sub(start), wrote, err
}

func (p *poolsBench) createPools(ctx context.Context) error {
	return forEach(ctx, manyPools, manyPools, func(ctx context.Context, i int) error {
		pool := &nodesv1.NodePool{
			ObjectMeta: metav1.ObjectMeta{Name: manyPoolName(i)},
			Spec:       nodesv1.NodePoolSpec{Labels: map[string]nodesv1.LabelValue{tierLabel(manyPoolName(i)): tierGold}},
		}
		return p.plane.Client.Create(ctx, pool)
	})
}

func (p *poolsBench) allReady(ctx context.Context) error {
	ready, err := p.plane.await(ctx, &nodesv1.NodePool{}, manyPools, func(object client.Object) bool {
		pool, ok := object.(*nodesv1.NodePool)
		return ok && apimeta.IsStatusConditionTrue(pool.Status.Conditions, status.Ready)
	})
	if err != nil {
		return err
	}
	defer ready.Cancel()
	if _, err := ready.Wait(ctx, patience); err != nil {
		return err
	}
	return p.plane.audit.quiet(ctx, agentWindlass, 2*time.Second)
}

// changeOne changes the label of one pool: only its nodes are to be written.
func (p *poolsBench) changeOne(ctx context.Context) error {
	changed := manyPoolName(0)
	value := func(pool string) string {
		if pool == changed {
			return "silver"
		}
		return tierGold
	}
	took, wrote, err := p.until(ctx, tier(value), func(ctx context.Context) error {
		pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: changed}}
		raw := fmt.Appendf(nil, `{"spec":{"labels":{%q:"silver"}}}`, tierLabel(changed))
		return p.plane.Client.Patch(ctx, pool, client.RawPatch(types.MergePatchType, raw))
	})
	if err != nil {
		return err
	}
	p.out.note("changing a label of one pool took %.1f s", took.Seconds())
	p.out.Checks = append(p.out.Checks, check{
		Name: "patches of nodes when one pool is changed", Want: 2 * p.nodes / manyPools,
		Got: []int{wrote.sum(by(agentWindlass), to("nodes"))},
	})
	return p.allReady(ctx)
}

// rest lets the nodes report for a while, and looks at what the manager does and holds.
func (p *poolsBench) rest(ctx context.Context, m *manager) error {
	for _, pace := range []struct {
		name          string
		window, every time.Duration
	}{{"with heartbeats", window, statusEvery}, {"with reports every " + kubeletEvery.String(), kubeletWindow, kubeletEvery}} {
		observed := newObserver(m, p.out, pace.name)
		err := observed.observe(ctx, 1, func(ctx context.Context) error { return p.plane.heartbeats(ctx, p.nodes, pace.window, pace.every) })
		if err != nil {
			return err
		}
		p.out.Checks = append(p.out.Checks, check{
			Name: "writes by windlass besides its lease " + pace.name, Want: 0, Got: observed.writes,
		})
	}
	now, peak := resident(m.PID)
	p.out.note("resident memory: %.0f MiB now, %.0f MiB at most; %.1f MiB for 1,000 nodes, the program itself included",
		now, peak, now*1000/float64(p.nodes))
	return nil
}

// restart starts the manager again where there is nothing to do.
func (p *poolsBench) restart(ctx context.Context) error {
	mark, err := p.plane.audit.mark()
	if err != nil {
		return err
	}
	m, err := p.plane.startManager(ctx)
	if err != nil {
		return err
	}
	if err := pause(ctx, 3*time.Second); err != nil { // whatever it counts and debounces comes to its end
		return err
	}
	wrote, err := p.plane.audit.since(mark)
	if err != nil {
		return err
	}
	p.out.note("started again: ready after %.1f s, leading after %.1f s", m.ready.Seconds(), m.leader.Seconds())
	p.out.Checks = append(p.out.Checks, check{
		Name: "writes by windlass besides its lease after a restart", Want: 0, Got: []int{wrote.sum(by(agentWindlass), besidesLease)},
	})
	return m.stop()
}
