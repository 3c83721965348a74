// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/test/rig"
)

const (
	// laneLabel divides the nodes into lanes, which pools share out among themselves.
	laneLabel = "example.com/lane"
	lanes     = 100
	// sharedLabel is what each pool sets.
	sharedLabel = "node-pool.lailin.xyz/shared"
)

// growthOverPools divides the same nodes among more and more pools: the work on nodes stays the same.
func growthOverPools(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	n := b.options.Nodes
	s := section{Title: fmt.Sprintf("%d nodes divided among more and more pools by selectors", n)}
	if r.ownNodes > 0 {
		return s, errNotAlone
	}
	index := map[string]int{}
	for i := range n {
		index[nodeName(i)] = i
	}
	err := r.addNodes(ctx, n, func(node *corev1.Node) {
		delete(node.Labels, nodesv1.RoleLabel(poolName))
		node.Labels[laneLabel] = strconv.Itoa(index[node.Name] % lanes)
	})
	if err != nil {
		return s, err
	}
	grown := curves{over: "number of pools"}
	for _, count := range b.options.sizes(poolSizes()) {
		if count > lanes {
			return s, fmt.Errorf("cannot divide %d lanes of nodes among %d pools", lanes, count)
		}
		b.tell("      %d pools", count)
		var at section
		p := &divided{
			poolsBench: poolsBench{plane: r, nodes: n, out: &at}, count: count, apply: at.measure("apply", "s"), remove: at.measure("take off", "s"),
			cpu: at.measure("CPU", "s"), most: at.measure("resident at most", "MiB"),
		}
		if err := b.interleave(ctx, variant{agentWindlass, p.round}); err != nil {
			return s, err
		}
		grown.add(count, "windlass: apply", "s", p.apply.Values)
		grown.add(count, "windlass: take off", "s", p.remove.Values)
		grown.add(count, "CPU of windlass: both", "s", p.cpu.Values)
		grown.add(count, "resident at most", "MiB", p.most.Values)
		s.Checks = append(s.Checks, check{Name: fmt.Sprintf("%d pools: patches of nodes by windlass", count), Want: 2 * n, Got: p.patches})
	}
	s.Curves = grown.list
	return s, nil
}

// divided measures so many pools.
type divided struct {
	poolsBench

	count                    int
	apply, remove, cpu, most *series
	patches                  []int
}

// pool returns the pool of every lane that is its own.
func (d *divided) pool(i int) *nodesv1.NodePool {
	var own []string
	for lane := range lanes {
		if lane*d.count/lanes == i {
			own = append(own, strconv.Itoa(lane))
		}
	}
	return &nodesv1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("lane-%d", i)},
		Spec: nodesv1.NodePoolSpec{
			NodeSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: laneLabel, Operator: metav1.LabelSelectorOpIn, Values: own}}},
			Labels:       map[string]nodesv1.LabelValue{sharedLabel: tierGold},
		},
	}
}

// round creates all pools at once, and deletes them again.
func (d *divided) round(ctx context.Context, round int) error {
	m, err := d.plane.startManager(ctx)
	if err != nil {
		return err
	}
	used := rig.CPUTime(m.PID)
	has := func(node *corev1.Node) bool { return node.Labels[sharedLabel] == tierGold }
	applied, wrote, err := d.until(ctx, has, func(ctx context.Context) error {
		return forEach(ctx, writers, d.count, func(ctx context.Context, i int) error { return d.plane.Client.Create(ctx, d.pool(i)) })
	})
	if err != nil {
		return err
	}
	patches := wrote.sum(by(agentWindlass), to("nodes"))
	removed, wrote, err := d.until(ctx, func(node *corev1.Node) bool { return !has(node) }, func(ctx context.Context) error {
		return forEach(ctx, writers, d.count, func(ctx context.Context, i int) error { return d.plane.Client.Delete(ctx, d.pool(i)) })
	})
	if err != nil {
		return err
	}
	d.patches = append(d.patches, patches+wrote.sum(by(agentWindlass), to("nodes")))
	d.apply.add(round, applied.Seconds())
	d.remove.add(round, removed.Seconds())
	d.cpu.add(round, (rig.CPUTime(m.PID) - used).Seconds())
	_, most := resident(m.PID)
	d.most.add(round, most)
	if err := d.plane.gone(ctx, &nodesv1.NodePool{}); err != nil {
		return err
	}
	// There is no garbage collector here, which would take the RuntimeClasses.
	if err := d.plane.deleteAll(ctx, nodev1.SchemeGroupVersion.WithKind("RuntimeClass")); err != nil {
		return err
	}
	return m.stop()
}
