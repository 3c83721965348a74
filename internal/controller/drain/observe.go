// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
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

// observe reads the node and the pools from the cache, and the pods on the node past it: the cache does not hold them.
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
	pods := &corev1.PodList{}
	if err := r.live.List(ctx, pods, client.MatchingFields{"spec.nodeName": name}); err != nil {
		return observation{}, fmt.Errorf("cannot list the pods on node %q: %w", name, err)
	}
	seen.pods = pods.Items
	return seen, nil
}
