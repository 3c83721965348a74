// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// newPool returns the pool of all nodes.
func newPool() *nodesv1.NodePool {
	return &nodesv1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: poolName},
		Spec: nodesv1.NodePoolSpec{
			Labels: map[string]nodesv1.LabelValue{"node-pool.lailin.xyz/bench": "8", "node-pool.lailin.xyz/tier": tierGold},
			Taints: []nodesv1.Taint{{Key: "node-pool.lailin.xyz", Value: poolName, Effect: corev1.TaintEffectNoSchedule}},
		},
	}
}

// carries reports whether a node carries everything of the pool, and carriesAny whether it carries any of it.
func carries(node *corev1.Node) bool    { return carried(node) == 4 }
func carriesAny(node *corev1.Node) bool { return carried(node) > 0 }

func carried(node *corev1.Node) int {
	pool, count := newPool(), 0
	for key, value := range pool.Spec.Labels {
		if have, ok := node.Labels[key]; ok && have == string(value) {
			count++
		}
	}
	if _, ok := node.Labels[nodesv1.MemberLabel(poolName)]; ok {
		count++
	}
	for _, taint := range node.Spec.Taints {
		if taint.Key == pool.Spec.Taints[0].Key && taint.Value == pool.Spec.Taints[0].Value {
			count++
		}
	}
	return count
}

// poolBench is the state of the scenario.
type poolBench struct {
	plane *controlPlane
	nodes int
	out   *section

	apply, remove, cost map[string]*series
	// most is what the manager has held at most, if that is asked for.
	most        *series
	checkApply  check
	checkRemove check
	last        map[string]writes
}

func newPoolBench(r *controlPlane, n int, s *section) *poolBench {
	p := &poolBench{
		plane: r, nodes: n, out: s, last: map[string]writes{},
		apply: map[string]*series{}, remove: map[string]*series{}, cost: map[string]*series{},
		checkApply:  check{Name: "patches of nodes by windlass while the pool is applied", Want: n},
		checkRemove: check{Name: "patches of nodes by windlass while the pool is taken off", Want: n},
	}
	for _, name := range []string{agentFloor, agentController, agentWindlass, agentArticle} {
		p.apply[name] = s.measure(name+": apply", "s")
	}
	for _, name := range []string{agentFloor, agentController, agentWindlass} {
		p.remove[name] = s.measure(name+": take off", "s")
	}
	for _, name := range []string{agentFloor, agentController, agentWindlass, agentArticle} {
		for _, process := range poolProcesses() {
			if process != agentWindlass || name == agentWindlass {
				p.cost[name+"/"+process] = s.measure(name+": CPU of "+process, "ms per node")
			}
		}
	}
	return p
}

// poolProcesses are the processes that take part. The bench itself sends what the floor and the article send, and watches
// all nodes in every round.
func poolProcesses() []string {
	return []string{processAPIServer, processEtcd, processBench, agentWindlass}
}

// run measures one change of all nodes: begin starts it, and it is over when every node is in the state. What has been
// written is counted once the manager has nothing more to write.
func (p *poolBench) run(ctx context.Context, round int, name string, into map[string]*series, want func(*corev1.Node) bool,
	begin func(context.Context) error,
) (writes, error) {
	done, err := p.plane.await(ctx, &corev1.Node{}, p.nodes, func(object client.Object) bool {
		node, ok := object.(*corev1.Node)
		return ok && want(node)
	})
	if err != nil {
		return nil, err
	}
	defer done.Cancel()
	mark, err := p.plane.audit.mark()
	if err != nil {
		return nil, err
	}
	before, start := readUsage(p.plane.pids), time.Now()
	if err := begin(ctx); err != nil {
		return nil, err
	}
	at, err := done.Wait(ctx, patience)
	if err != nil {
		return nil, err
	}
	if into != nil {
		into[name].add(round, at.Sub(start).Seconds())
	}
	if err := p.plane.audit.quiet(ctx, agentWindlass, quietAfterPool); err != nil {
		return nil, err
	}
	after := readUsage(p.plane.pids)
	for _, process := range poolProcesses() {
		if s, ok := p.cost[name+"/"+process]; ok && (into == nil || into[name] == p.apply[name]) {
			s.add(round, after.per(before, process, p.nodes))
		}
	}
	return p.plane.audit.since(mark)
}

// send measures a way of sending the patches that apply the pool, and then those that take it off.
func (p *poolBench) send(ctx context.Context, round int, agent string, begin func(ctx context.Context, patches map[string][]byte) error) error {
	pool := newPool()
	pool.UID, pool.Finalizers = "bench", []string{nodesv1.Finalizer}
	pool.Status.Ledger = membership.Wanted(pool)
	for _, step := range []struct {
		into map[string]*series
		want func(*corev1.Node) bool
	}{{p.apply, carries}, {p.remove, func(node *corev1.Node) bool { return !carriesAny(node) }}} {
		patches, err := p.plan(ctx, pool)
		if err != nil {
			return err
		}
		_, err = p.run(ctx, round, agent, step.into, step.want, func(ctx context.Context) error { return begin(ctx, patches) })
		if err != nil {
			return err
		}
		pool.DeletionTimestamp = new(metav1.Now())
	}
	return nil
}

// patchNode sends a patch as the manager does.
func patchNode(ctx context.Context, c client.Writer, name string, raw []byte) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return c.Patch(ctx, node, client.RawPatch(types.MergePatchType, raw), client.FieldOwner(agentWindlass))
}

// plan computes the patches that bring all nodes to what the pool wants.
func (p *poolBench) plan(ctx context.Context, pool *nodesv1.NodePool) (map[string][]byte, error) {
	var nodes corev1.NodeList
	if err := p.plane.cache.List(ctx, &nodes, client.HasLabels{nodesv1.RoleLabel(poolName)}); err != nil {
		return nil, fmt.Errorf("cannot list nodes: %w", err)
	}
	prepared, err := membership.NewPool(pool)
	if err != nil {
		return nil, err
	}
	patches := map[string][]byte{}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		plan := membership.NewPlan(node, membership.Pools{poolName: prepared})
		if patches[node.Name], err = plan.MergePatch(node); err != nil {
			return nil, err
		}
	}
	return patches, nil
}
