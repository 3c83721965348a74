// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// observation is what a pass sees of a node.
type observation struct {
	// drains are those that the node is ready for, sorted by pool.
	drains []drain
	// pods are all pods on the node. They are only read where there is a drain.
	pods []corev1.Pod
}

// observe reads the node and the pools from the cache. Where there is a drain it reads them once more past it, and the pods on the node too: a pod
// that is evicted is not brought back, and a process that has just started may know the node, or the pool, as it was before the node came back.
func (r *Reconciler) observe(ctx context.Context, name string) (observation, error) {
	node := &corev1.Node{}
	if err := r.client.Get(ctx, client.ObjectKey{Name: name}, node, client.UnsafeDisableDeepCopy); err != nil {
		return observation{}, client.IgnoreNotFound(err)
	}
	pools := &nodesv1.NodePoolList{}
	if err := r.client.List(ctx, pools, client.UnsafeDisableDeepCopy); err != nil {
		return observation{}, fmt.Errorf("cannot list pools for node %q: %w", name, err)
	}
	seen := observation{drains: due(node, pools)}
	if len(seen.drains) == 0 {
		return seen, nil
	}
	var err error
	if seen.drains, err = r.confirm(ctx, seen.drains); err != nil || len(seen.drains) == 0 {
		return observation{}, err
	}
	if err := r.lookAtClasses(ctx, seen.drains); err != nil {
		return observation{}, err
	}
	pods := &corev1.PodList{}
	if err := r.live.List(ctx, pods, client.MatchingFields{"spec.nodeName": name}); err != nil {
		return observation{}, fmt.Errorf("cannot list the pods on node %q: %w", name, err)
	}
	seen.pods = pods.Items
	return seen, nil
}

// lookAtClasses reads the RuntimeClasses with the names of the pools from the cache. Pods choose a pool by one only if it belongs to the pool.
func (r *Reconciler) lookAtClasses(ctx context.Context, drains []drain) error {
	for i := range drains {
		class := &nodev1.RuntimeClass{}
		switch err := r.client.Get(ctx, client.ObjectKeyFromObject(drains[i].pool), class, client.UnsafeDisableDeepCopy); {
		case err == nil:
			drains[i].class = class
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("cannot read RuntimeClass %q: %w", drains[i].pool.Name, err)
		}
	}
	return nil
}

// confirm returns those of a node's drains that the API server itself knows of. The node is listed, because the manager may list nodes
// and not get them.
func (r *Reconciler) confirm(ctx context.Context, drains []drain) ([]drain, error) {
	name := drains[0].entry.Node
	nodes := &corev1.NodeList{}
	if err := r.live.List(ctx, nodes, client.MatchingFields{"metadata.name": name}); err != nil {
		return nil, fmt.Errorf("cannot read node %q past the cache: %w", name, err)
	}
	pools := &nodesv1.NodePoolList{}
	for _, d := range drains {
		pool := &nodesv1.NodePool{}
		switch err := r.live.Get(ctx, client.ObjectKeyFromObject(d.pool), pool); {
		case err == nil:
			pools.Items = append(pools.Items, *pool)
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("cannot read pool %q past the cache: %w", d.pool.Name, err)
		}
	}
	var confirmed []drain
	for i := range nodes.Items { // one, or none
		confirmed = append(confirmed, due(&nodes.Items[i], pools)...)
	}
	return confirmed, nil
}
