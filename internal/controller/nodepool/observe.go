// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/membership"
)

// observation is what a pass sees of the cluster around a pool.
type observation struct {
	// runtimeClass is the RuntimeClass of the pool's name, nil if there is none.
	runtimeClass *nodev1.RuntimeClass
	// nodes counts the pool's nodes.
	nodes census
}

// census counts the nodes of a pool.
type census struct {
	members, ready, shared int32
	// pending are the names, sorted, of nodes that do not yet carry everything of the pool or still carry something of it.
	pending []string
	// pendingMembers is how many of pending are members.
	pendingMembers int32
	// carrying is how many nodes carry anything of the pool, members or not.
	carrying int32
	// conflicted is how many members lack a key that somebody else holds.
	conflicted int32
	// unsynced is how many members are pending, conflicted or both.
	unsynced int32
	// conflicts counts the nodes for each key that somebody else holds.
	conflicts map[membership.Conflict]int
	// neighbours are the taints of the pools that share a node with this one.
	neighbours []nodesv1.Taint
	capacity   corev1.ResourceList
	allocated  corev1.ResourceList
}

// observe reads the RuntimeClass, the pools and the nodes from the cache.
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
	if err := r.client.List(ctx, list); err != nil {
		return flow.Fail(fmt.Errorf("cannot list pools: %w", err))
	}
	nodes := &corev1.NodeList{}
	byPool := client.MatchingFields{membership.IndexField: s.pool.Name}
	if err := r.client.List(ctx, nodes, byPool, client.UnsafeDisableDeepCopy); err != nil {
		return flow.Fail(fmt.Errorf("cannot list nodes: %w", err))
	}
	pools := membership.NewPools(list)
	pools[s.pool.Name] = s.pool
	s.seen.nodes = count(s.pool.Name, nodes.Items, pools)
	s.observed = true
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

// count takes the census of the named pool over the nodes that are in it or carry something of it.
func count(name string, nodes []corev1.Node, pools membership.Pools) census {
	c := census{conflicts: map[membership.Conflict]int{}, capacity: corev1.ResourceList{}, allocated: corev1.ResourceList{}}
	// Sums of quantities take the unit of the first one, so the order has to be the same each time.
	order := make([]*corev1.Node, 0, len(nodes))
	for i := range nodes {
		order = append(order, &nodes[i])
	}
	slices.SortFunc(order, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	neighbours := map[string]bool{}
	for _, node := range order {
		c.add(name, node, membership.NewPlan(node, pools), pools)
		if in := membership.Of(node); slices.Contains(in, name) {
			for _, other := range in {
				neighbours[other] = other != name
			}
		}
	}
	for other, shares := range neighbours {
		if pool, exists := pools[other]; exists && shares {
			c.neighbours = append(c.neighbours, tolerated(pool)...)
		}
	}
	return c
}

// add counts one node.
func (c *census) add(name string, node *corev1.Node, plan *membership.Plan, pools membership.Pools) {
	member := slices.Contains(membership.Of(node), name)
	pending := slices.Contains(plan.Pending, name)
	if pending {
		c.pending = append(c.pending, node.Name)
	}
	if membership.Carries(node, name) {
		c.carrying++
	}
	if !member {
		return
	}
	conflicted := false
	for _, conflict := range plan.Conflicts {
		if conflict.Pool == name {
			conflicted = true
			c.conflicts[conflict]++
		}
	}
	c.members++
	c.ready += one(isReady(node))
	c.shared += one(pools.Shared(node, name))
	c.pendingMembers += one(pending)
	c.conflicted += one(conflicted)
	c.unsynced += one(pending || conflicted)
	sum(c.capacity, node.Status.Capacity)
	sum(c.allocated, node.Status.Allocatable)
}

func one(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func sum(total, add corev1.ResourceList) {
	for name, quantity := range add {
		value := total[name]
		value.Add(quantity)
		total[name] = value
	}
}
