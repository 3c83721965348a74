// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

// clean takes off the nodes what the article's loop has put there.
func (p *poolBench) clean(ctx context.Context) error {
	labels := map[string]any{nodesv1.MemberLabel(poolName): nil}
	for key := range newPool().Spec.Labels {
		labels[key] = nil
	}
	raw, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"taints": nil},
	})
	if err != nil {
		return fmt.Errorf("cannot encode a patch: %w", err)
	}
	_, err = p.run(ctx, 0, "", nil, func(node *corev1.Node) bool { return !carriesAny(node) }, func(ctx context.Context) error {
		return forEach(ctx, threads, p.nodes, func(ctx context.Context, i int) error {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}}
			return p.plane.Client.Patch(ctx, node, client.RawPatch(types.MergePatchType, raw))
		})
	})
	return err
}

// conclude compares the series.
func (p *poolBench) conclude() {
	p.out.Ratios = append(p.out.Ratios,
		compare("windlass to the floor, apply", p.apply[agentWindlass], p.apply[agentFloor], 1.2),
		compare("windlass to the floor, take off", p.remove[agentWindlass], p.remove[agentFloor], 0),
		compare("windlass to a bare controller, apply", p.apply[agentWindlass], p.apply[agentController], 0),
		compare("windlass to a bare controller, take off", p.remove[agentWindlass], p.remove[agentController], 0),
		compare("article without a limit of requests to windlass", p.apply[agentArticle], p.apply[agentWindlass], 0),
	)
	p.out.Checks = append(p.out.Checks, p.checkApply, p.checkRemove)
	for _, limit := range []struct{ qps, burst int }{{5, 10}, {20, 30}} {
		seconds := float64(max(0, p.nodes-limit.burst)) / float64(limit.qps)
		out := fmt.Sprintf("article with %d requests a second and a burst of %d, reads not counted: %.0f s", limit.qps, limit.burst, seconds)
		if ours := p.apply[agentWindlass].median(); ours > 0 {
			out += fmt.Sprintf(", %.0f times as long as windlass (computed)", seconds/ours)
		}
		p.out.note("%s", out)
	}
	for _, what := range []string{"applied", "taken off"} {
		if wrote, ok := p.last[what]; ok {
			p.out.note("writes by windlass while the pool is %s: %s", what, wrote.text(by(agentWindlass)))
		}
	}
}

// poolReady waits until the pool says that it is on so many nodes.
func (r *controlPlane) poolReady(ctx context.Context, nodes int) error {
	ready, err := r.await(ctx, &nodesv1.NodePool{}, 1, func(object client.Object) bool {
		pool, ok := object.(*nodesv1.NodePool)
		return ok && int(pool.Status.SyncedNodeCount) == nodes && apimeta.IsStatusConditionTrue(pool.Status.Conditions, status.Ready)
	})
	if err != nil {
		return err
	}
	defer ready.Cancel()
	_, err = ready.Wait(ctx, patience)
	return err
}

// gone waits until there is no object of that kind.
func (r *controlPlane) gone(ctx context.Context, kind client.Object) error {
	gone, err := r.await(ctx, kind, 0, func(client.Object) bool { return true })
	if err != nil {
		return err
	}
	defer gone.Cancel()
	_, err = gone.Wait(ctx, patience)
	return err
}

func (r *controlPlane) deleteRuntimeClass(ctx context.Context) error {
	class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: poolName}}
	if err := client.IgnoreNotFound(r.Client.Delete(ctx, class)); err != nil {
		return fmt.Errorf("cannot delete the RuntimeClass: %w", err)
	}
	return nil
}

// nodeSize returns the size of a node as JSON.
func (r *controlPlane) nodeSize(ctx context.Context) (int, error) {
	var node corev1.Node
	if err := r.Client.Get(ctx, client.ObjectKey{Name: nodeName(0)}, &node); err != nil {
		return 0, fmt.Errorf("cannot read a node: %w", err)
	}
	raw, err := json.Marshal(&node)
	if err != nil {
		return 0, fmt.Errorf("cannot encode a node: %w", err)
	}
	return len(raw), nil
}

// ensurePool makes sure that the nodes and the pool are there and the pool is on all of them.
func (r *controlPlane) ensurePool(ctx context.Context, nodes int) error {
	if err := r.addNodes(ctx, nodes); err != nil {
		return err
	}
	m, err := r.startManager(ctx)
	if err != nil {
		return err
	}
	if err := client.IgnoreAlreadyExists(r.Client.Create(ctx, newPool())); err != nil {
		return fmt.Errorf("cannot create the pool: %w", err)
	}
	if err := r.poolReady(ctx, nodes); err != nil {
		return err
	}
	return m.stop()
}
