// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// planBrake returns the nodes, sorted, that leave and that the safety brake holds, and what to remember of the acknowledgement. Nodes that it has
// let go are not judged again, and those that leave after them are judged without them. Nodes that carry the pool by their kubelets' word alone are not
// counted: machines that were never in the pool could hold those that really leave it.
func planBrake(pool *nodesv1.NodePool, seen *observation) (held []string, next consent) {
	next = seen.consent.next(pool, seen.nodes)
	leaving := seen.nodes.vouched(seen.nodes.leaving)
	for _, name := range leaving {
		if !next.nodes[seen.nodes.uids[name]] {
			held = append(held, name)
		}
	}
	agreed := len(leaving) - len(held)
	if !membership.TooManyLeave(pool, len(held), len(seen.nodes.vouched(seen.nodes.carrying))-agreed) {
		held = nil
	}
	return held, next
}

// usedUp reports whether there is an acknowledgement that has had its effect: no node is leaving any more, or the brake holds nodes that it is not
// about. Then it has to go, so that it can be given again.
func usedUp(pool *nodesv1.NodePool, nodes aggregate, held []string) bool {
	_, given := pool.Annotations[nodesv1.AcknowledgeAnnotation]
	return given && (len(nodes.leaving) == 0 || len(held) > 0 && membership.Acknowledged(pool))
}

// contains reports whether a sorted list has the name.
func contains(sorted []string, name string) bool {
	_, found := slices.BinarySearch(sorted, name)
	return found
}

// consent is what is remembered of an acknowledgement. It is about the nodes that were leaving when it was first seen. A drain can take hours, and
// what else leaves the pool meanwhile is not what the person has agreed to.
type consent struct {
	// generation is the pool's when it was given.
	generation int64
	// seen is true if the acknowledgement that the pool carries has been counted, and spent if it has been counted and taken off.
	seen, spent bool
	// nodes are those that it is about and that are still leaving.
	nodes map[types.UID]bool
}

// next returns the consent as it is with the pool and its nodes at present. A person who takes the acknowledgement off takes it back.
func (c consent) next(pool *nodesv1.NodePool, nodes aggregate) consent {
	if c.generation != pool.Generation {
		c = consent{}
	}
	given := membership.Acknowledged(pool)
	next := consent{generation: pool.Generation, seen: given, spent: c.spent && !given, nodes: map[types.UID]bool{}}
	for _, name := range nodes.leaving {
		uid := nodes.uids[name]
		if given && !c.seen || c.nodes[uid] && (given || c.spent) {
			next.nodes[uid] = true
		}
	}
	return next
}

// taken returns the consent when the acknowledgement has been taken off because it is used up.
func (c consent) taken() consent {
	c.seen, c.spent = false, true
	return c
}

// consents holds the consent of each pool that this process has worked on. The zero value knows of no pool.
type consents struct {
	mu sync.Mutex
	of map[string]consent // by pool
}

// recall returns the consent of the pool.
func (c *consents) recall(pool *nodesv1.NodePool) consent {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.of[pool.Name]; ok {
		return known
	}
	return recalled(pool)
}

// recalled returns what the status of a pool says about an acknowledgement that an earlier process has counted: it let those nodes go that are being
// drained. It has not been counted if the brake was still on. Where no node is drained, or more may be waiting for room than the status holds,
// nothing says which nodes it let go, and it counts for all that are leaving: they must not be stuck after each restart.
func recalled(pool *nodesv1.NodePool) consent {
	unknown := !membership.Evicts(pool) || len(pool.Status.Draining) >= nodesv1.MaxDraining
	if unknown || !membership.Acknowledged(pool) || meta.IsStatusConditionTrue(pool.Status.Conditions, nodesv1.ConditionSafetyBrake) {
		return consent{}
	}
	c := consent{generation: pool.Generation, seen: true, nodes: map[types.UID]bool{}}
	for _, entry := range pool.Status.Draining {
		c.nodes[entry.UID] = true
	}
	return c
}

// keep remembers the consent of the pool.
func (c *consents) keep(pool string, next consent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]consent{}
	}
	c.of[pool] = next
}

// drop forgets a pool that is gone.
func (c *consents) drop(pool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, pool)
}
