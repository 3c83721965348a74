// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/kube"
)

// neighbourChanged lets through what the neighbours of a pool follow: what it declares, because a neighbour notes originals, has conflicts and shares
// nodes by that, the taints on its nodes, and its end. A new pool finds its neighbours itself when it is counted, before it puts anything on nodes.
func neighbourChanged() predicate.Predicate {
	changed := kube.Updates(kube.Declared, func(before, after *nodesv1.NodePool) bool { return !slices.Equal(tolerated(before), tolerated(after)) })
	changed.CreateFunc = func(event.CreateEvent) bool { return false }
	return changed
}

// neighboursOf wakes the pools that have nodes on which the pool has something.
func (r *Reconciler) neighboursOf(_ context.Context, pool client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range r.neighbours.around(pool.GetName()) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
	return requests
}

// meet remembers which pools share nodes with the pool, and wakes the other members of these nodes that do not know yet.
func (r *Reconciler) meet(pool string, nodes aggregate) {
	for _, name := range r.neighbours.keep(pool, nodes) {
		r.wakeups.Wake(types.NamespacedName{Name: name})
	}
}

// neighbours holds the pools, sorted, that shared nodes with each pool when it was last counted. The zero value knows of no pool.
type neighbours struct {
	mu sync.Mutex
	of map[string][]string // by pool
}

// keep remembers what was counted for the pool, and returns those with members in common that were counted before without it. A pool that only has
// something left on a member of this one does not count it, and so could be woken for ever.
func (n *neighbours) keep(pool string, nodes aggregate) (unaware []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[string][]string{}
	}
	n.of[pool] = nodes.sharing
	for _, other := range nodes.mates {
		if known, counted := n.of[other]; counted && !contains(known, pool) {
			unaware = append(unaware, other)
		}
	}
	return unaware
}

// around returns the pools, sorted, that know that they share nodes with the pool.
func (n *neighbours) around(pool string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var around []string
	for other, known := range n.of {
		if contains(known, pool) {
			around = append(around, other)
		}
	}
	slices.Sort(around)
	return around
}

// drop forgets a pool that is gone. Those that know it are counted again.
func (n *neighbours) drop(pool string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.of, pool)
}
