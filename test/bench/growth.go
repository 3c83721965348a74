// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
)

// Sizes of the scenarios of growth, if none are given.
func nodeSizes() []int { return []int{1000, 5000, 15000} }
func poolSizes() []int { return []int{1, 3, 10, 30, 100} }
func podSizes() []int  { return []int{1000, 3000, 10000} }

// sizes returns what was asked for, or else what is usual.
func (o options) sizes(usual []int) []int {
	if len(o.Sizes) > 0 {
		return o.Sizes
	}
	return usual
}

var errNotAlone = errors.New("the scenario needs a cluster of its own: run it alone")

// growthOverNodes applies a pool to more and more nodes and takes it off again, beside a bare loop of the same patches.
func growthOverNodes(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	s := section{Title: "one pool applied to more and more nodes, and taken off again"}
	if r.ownNodes > 0 {
		return s, errNotAlone
	}
	grown := curves{over: "number of nodes"}
	for _, n := range b.options.sizes(nodeSizes()) {
		b.tell("      %d nodes", n)
		if err := r.addNodes(ctx, n); err != nil {
			return s, err
		}
		var at section
		p := newPoolBench(r, n, &at)
		p.most = at.measure("resident at most", "MiB")
		if err := b.interleave(ctx, variant{agentFloor, p.floor}, variant{agentWindlass, p.windlass}); err != nil {
			return s, err
		}
		for _, agent := range []string{agentFloor, agentWindlass} {
			grown.add(n, agent+": apply", "s", p.apply[agent].Values)
			grown.add(n, agent+": take off", "s", p.remove[agent].Values)
		}
		grown.add(n, "CPU of windlass: apply", "s", scaled(p.cost[agentWindlass+"/"+agentWindlass].Values, float64(n)/1000))
		grown.add(n, "resident at most", "MiB", p.most.Values)
		for _, c := range []check{p.checkApply, p.checkRemove} {
			c.Name = fmt.Sprintf("%d nodes: %s", n, c.Name)
			s.Checks = append(s.Checks, c)
		}
	}
	s.Curves = grown.list
	return s, nil
}

// growthOverPods starts the manager beside more and more pods of PodSets.
func growthOverPods(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	n := b.options.Nodes
	s := section{Title: fmt.Sprintf("the manager started with %d nodes in a pool and more and more pods of PodSets", n)}
	if r.ownNodes > 0 {
		return s, errNotAlone
	}
	if err := r.ensurePool(ctx, n); err != nil {
		return s, err
	}
	grown := curves{over: "number of pods"}
	before := 0
	for _, pods := range b.options.sizes(podSizes()) {
		if pods%podsPerSet != 0 {
			return s, fmt.Errorf("cannot have %d pods in PodSets of %d each", pods, podsPerSet)
		}
		b.tell("      %d pods", pods)
		if err := r.addPods(ctx, before, pods, n); err != nil {
			return s, err
		}
		before = pods
		m, err := r.startManager(ctx) // which writes the Deployments and the status of the PodSets
		if err != nil {
			return s, err
		}
		if err := m.stop(); err != nil {
			return s, err
		}
		var at section
		held := newHolding(r, &at)
		if err := b.interleave(ctx, variant{agentWindlass, held.round}); err != nil {
			return s, err
		}
		grown.add(pods, "until ready", "s", held.ready.Values)
		grown.add(pods, "CPU until it rests", "s", held.cpu.Values)
		grown.add(pods, "resident", "MiB", held.now.Values)
		grown.add(pods, "resident at most", "MiB", held.most.Values)
		s.Checks = append(s.Checks, check{Name: fmt.Sprintf("%d pods: writes by windlass besides its lease", pods), Got: held.writes})
	}
	s.Curves = grown.list
	return s, nil
}

// scaled returns the values, each so many times.
func scaled(values []float64, by float64) []float64 {
	out := make([]float64, len(values))
	for i := range values {
		out[i] = by * values[i]
	}
	return out
}
