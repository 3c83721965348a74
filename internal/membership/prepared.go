// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"sync"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// Prepared keeps pools ready for use: each version of a pool is prepared once, and not in every pass over every node. The zero value knows
// of none. It is safe for concurrent use.
type Prepared struct {
	mu    sync.Mutex
	pools Pools
}

// Pools returns the pools of a list from a cache, which is not referred to afterwards. The result is shared: it must not be changed.
func (p *Prepared) Pools(list *nodesv1.NodePoolList) Pools {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holds(list) {
		return p.pools
	}
	pools := make(Pools, len(list.Items))
	for i := range list.Items {
		item := &list.Items[i]
		if known := p.pools[item.Name]; known != nil && isVersion(known, item) {
			pools[item.Name] = known
			continue
		}
		own := *item // the list is one block of memory, which a single pool would keep
		pools[own.Name], _ = NewPool(&own)
	}
	p.pools = pools
	return pools
}

// holds reports whether these very versions are prepared, and no others.
func (p *Prepared) holds(list *nodesv1.NodePoolList) bool {
	if len(p.pools) != len(list.Items) {
		return false
	}
	for i := range list.Items {
		if known := p.pools[list.Items[i].Name]; known == nil || !isVersion(known, &list.Items[i]) {
			return false
		}
	}
	return true
}

// isVersion reports whether the prepared pool is of the very version. One without a version is never known to be.
func isVersion(prepared *Pool, pool *nodesv1.NodePool) bool {
	return prepared.UID == pool.UID && prepared.ResourceVersion == pool.ResourceVersion && pool.ResourceVersion != ""
}
