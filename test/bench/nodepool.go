// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// tierGold is the value of a label that a pool sets.
const tierGold = "gold"

// threads is how many nodes the manager works on at a time by default; the floor does the same.
const threads = 8

// quietAfterPool is longer than the manager collects changes before it counts a pool again.
const quietAfterPool = time.Second

// nodePoolApply measures how long a pool takes to be on all nodes.
func nodePoolApply(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	n := b.options.Nodes
	s := section{Title: fmt.Sprintf("one pool applied to %d nodes and taken off again", n)}
	b.tell("      adding %d nodes", n)
	if err := r.addNodes(ctx, n); err != nil {
		return s, err
	}
	size, err := r.nodeSize(ctx)
	if err != nil {
		return s, err
	}
	s.note("a node has %.1f KB as JSON", float64(size)/1000)
	p := newPoolBench(r, n, &s)
	err = b.interleave(ctx, variant{agentFloor, p.floor}, variant{agentController, p.controller}, variant{agentArticle, p.article}, variant{agentWindlass, p.windlass})
	p.conclude()
	return s, err
}

// floor sends the very patches that the manager would send, as fast as the API server takes them.
func (p *poolBench) floor(ctx context.Context, round int) error {
	bare, err := client.New(as(p.plane.account, agentFloor), client.Options{Scheme: p.plane.scheme})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	return p.send(ctx, round, agentFloor, func(ctx context.Context, patches map[string][]byte) error {
		names := slices.Sorted(maps.Keys(patches))
		return forEach(ctx, threads, len(names), func(ctx context.Context, i int) error {
			return patchNode(ctx, bare, names[i], patches[names[i]])
		})
	})
}

// windlass creates the pool, and deletes it again.
func (p *poolBench) windlass(ctx context.Context, round int) error {
	m, err := p.plane.startManager(ctx)
	if err != nil {
		return err
	}
	wrote, err := p.run(ctx, round, agentWindlass, p.apply, carries, func(ctx context.Context) error {
		return p.plane.Client.Create(ctx, newPool())
	})
	if err != nil {
		return err
	}
	p.checkApply.Got = append(p.checkApply.Got, wrote.sum(by(agentWindlass), to("nodes")))
	p.last["applied"] = wrote
	if err := p.plane.poolReady(ctx, p.nodes); err != nil {
		return err
	}
	wrote, err = p.run(ctx, round, agentWindlass, p.remove, func(node *corev1.Node) bool { return !carriesAny(node) },
		func(ctx context.Context) error { return p.plane.Client.Delete(ctx, newPool()) })
	if err != nil {
		return err
	}
	p.checkRemove.Got = append(p.checkRemove.Got, wrote.sum(by(agentWindlass), to("nodes")))
	p.last["taken off"] = wrote
	if p.most != nil {
		_, most := resident(m.PID)
		p.most.add(round, most)
	}
	if err := p.plane.gone(ctx, &nodesv1.NodePool{}); err != nil {
		return err
	}
	// There is no garbage collector here, which would take the RuntimeClass.
	if err := p.plane.deleteRuntimeClass(ctx); err != nil {
		return err
	}
	return m.stop()
}

// article does what the article's controller does: one node after the other is read and written back as a whole.
func (p *poolBench) article(ctx context.Context, round int) error {
	serial, err := client.New(as(p.plane.Config, agentArticle), client.Options{Scheme: p.plane.scheme})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	pool := newPool()
	_, err = p.run(ctx, round, agentArticle, p.apply, carries, func(ctx context.Context) error {
		return forEach(ctx, 1, p.nodes, func(ctx context.Context, i int) error {
			var node corev1.Node
			if err := serial.Get(ctx, client.ObjectKey{Name: nodeName(i)}, &node); err != nil {
				return err
			}
			for key, value := range pool.Spec.Labels {
				node.Labels[key] = string(value)
			}
			node.Labels[nodesv1.MemberLabel(poolName)] = ""
			for _, taint := range pool.Spec.Taints {
				node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
			}
			return serial.Update(ctx, &node)
		})
	})
	if err != nil {
		return err
	}
	return p.clean(ctx)
}
