// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
)

// observation is what a pass sees of the cluster around a pool.
type observation struct {
	// runtimeClass is the RuntimeClass of the pool's name, nil if there is none.
	runtimeClass *nodev1.RuntimeClass
	// nodes counts the pool's nodes.
	nodes census
	// podsToEvict is how many running pods the taints delete that are about to be put on nodes.
	podsToEvict int32
}

// observe reads the RuntimeClass, the pools and the nodes from the cache, and where a taint would delete pods, the pods.
func (r *Reconciler) observe(ctx context.Context, s *scope) flow.Outcome {
	class := &nodev1.RuntimeClass{}
	err := r.client.Get(ctx, client.ObjectKey{Name: s.pool.Name}, class)
	switch {
	case err == nil:
		s.seen.runtimeClass = class
	case !apierrors.IsNotFound(err):
		return flow.Fail(err)
	}

	list := &nodesv1.NodePoolList{}
	if err := r.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil { // nothing below changes a pool but its own copy
		return flow.Fail(fmt.Errorf("cannot list pools: %w", err))
	}
	pools := membership.NewPools(list)
	pool, malformed := membership.NewPool(s.pool)
	pools[s.pool.Name] = pool
	nodes, err := kube.Nodes(ctx, r.client, pool)
	if err != nil {
		return flow.Fail(err)
	}
	if s.seen.nodes, err = r.memory.take(s.pool.Name, nodes, pools); err != nil {
		return flow.Fail(err)
	}
	if taints := evicting(s.pool); len(taints) > 0 && s.pool.DeletionTimestamp == nil {
		if s.seen.podsToEvict, err = r.podsToEvict(ctx, s.seen.nodes.memberNodes, taints); err != nil {
			return flow.Fail(err)
		}
	}
	s.observed = true
	if malformed != nil {
		return flow.Stall(nodesv1.ReasonInvalidSelector, malformed)
	}
	return flow.Done()
}

// carriesAny asks the API server itself whether a node still has the pool's member label.
func (r *Reconciler) carriesAny(ctx context.Context, pool string) (bool, error) {
	nodes := &metav1.PartialObjectMetadataList{}
	nodes.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
	err := r.live.List(ctx, nodes, client.HasLabels{nodesv1.MemberLabel(pool)}, client.Limit(1))
	if err != nil {
		return false, fmt.Errorf("cannot look for nodes of pool %q: %w", pool, err)
	}
	return len(nodes.Items) > 0, nil
}
