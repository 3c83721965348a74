// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"sync"
	"time"

	"github.com/windlass-operator/windlass/internal/clock"
)

// podCount is how many pods were counted, and when. All pods of a cluster are read for it, and each change of a node is a pass.
type podCount struct {
	// counted says which pods, so that no other ones are taken for them.
	counted string
	pods    int32
	// names are the first of them, where they are told.
	names []string
	at    time.Time
}

// podCounts holds the last count of each pool that had to count pods. The zero value knows of none.
type podCounts struct {
	mu sync.Mutex
	of map[string]podCount // by pool
}

// recall returns the last count of these pods and for how long it counts, 0 if they have to be counted again.
func (c *podCounts) recall(pool, counted string, now time.Time) (left time.Duration, last podCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, known := c.of[pool]
	if !known || last.counted != counted {
		return 0, podCount{}
	}
	return clock.Left(last.at.Add(recountPods), recountPods, now), last
}

// keep remembers the count of a pool.
func (c *podCounts) keep(pool string, last podCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]podCount{}
	}
	c.of[pool] = last
}

// drop forgets a pool that is gone.
func (c *podCounts) drop(pool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, pool)
}
