// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"sync"
	"time"

	"github.com/windlass-operator/windlass/internal/clock"
	"github.com/windlass-operator/windlass/internal/membership"
)

// What another writer has changed is repaired at once. If it insists on its value, both would write as fast as they see each other.
const (
	// maxRepairs is how often a node is repaired within repairsWithin.
	maxRepairs    = 5
	repairsWithin = time.Minute
)

// repairs remembers how often each node has been repaired of late. The zero value knows of none.
type repairs struct {
	mu sync.Mutex
	of map[string]repaired // by node
}

type repaired struct {
	since time.Time
	count int
}

// wait returns for how long a plan has to wait that only repairs what others have changed, 0 for any other one.
func (r *repairs) wait(node string, plan *membership.Plan, now time.Time) time.Duration {
	if len(plan.Drift) == 0 || plan.RecordChanged || len(plan.Leaving) > 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.of[node]
	if last.count < maxRepairs {
		return 0
	}
	return clock.Left(last.since.Add(repairsWithin), repairsWithin, now)
}

// note counts a repair, and reports whether the next one may have to wait.
func (r *repairs) note(node string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]repaired{}
	}
	last := r.of[node]
	if clock.Left(last.since.Add(repairsWithin), repairsWithin, now) == 0 {
		last = repaired{since: now}
	}
	last.count++
	r.of[node] = last
	return last.count == maxRepairs
}

// drop forgets a node that is gone.
func (r *repairs) drop(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, node)
}
