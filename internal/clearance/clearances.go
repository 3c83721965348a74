// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package clearance

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/kube"
)

// Clearances says which nodes may leave which pool. The zero value lets no node leave.
type Clearances struct {
	// Wakeups wakes the nodes that get a clearance.
	Wakeups kube.Wakeup
	// Writes are those of nodes that are under way.
	Writes Writes

	mu      sync.Mutex
	granted map[string]map[string]bool // by pool and node
}

// Grant lets exactly these nodes leave the pool, and wakes those that could not leave it before.
func (c *Clearances) Grant(pool string, nodes []string) {
	for _, node := range c.replace(pool, nodes) {
		c.Wakeups.Wake(types.NamespacedName{Name: node})
	}
}

// Withdraw lets no node leave the pool any more.
func (c *Clearances) Withdraw(pool string) { c.replace(pool, nil) }

// Granted reports whether the node may leave the pool.
func (c *Clearances) Granted(pool, node string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.granted[pool][node]
}

// replace returns the nodes, sorted, that may leave the pool from now on and could not before.
func (c *Clearances) replace(pool string, nodes []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, after := c.granted[pool], make(map[string]bool, len(nodes))
	added := map[string]bool{}
	for _, node := range nodes {
		after[node] = true
		if !before[node] {
			added[node] = true
		}
	}
	if c.granted == nil {
		c.granted = map[string]map[string]bool{}
	}
	c.granted[pool] = after
	if len(after) == 0 {
		delete(c.granted, pool)
	}
	return slices.Sorted(maps.Keys(added))
}
