// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import "sync"

// Gate keeps nodes from being cleaned before it is known how many leave a pool at once: a typing error in a selector, or a
// tool that strips labels, shall not empty a pool. The pool controller reports each census, the node controller asks before it
// cleans a node that left. The two share one process, and what they share is forgotten with it: after a start nothing is
// removed before the first census.
//
// Its zero value is closed for everybody.
type Gate struct {
	mu     sync.Mutex
	opened map[string]map[string]bool // pool, node
}

// Report tells the gate which nodes a census found leaving the pool, and whether they may go.
func (g *Gate) Report(pool string, leaving []string, open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil {
		g.opened = map[string]map[string]bool{}
	}
	if !open || len(leaving) == 0 {
		delete(g.opened, pool)
		return
	}
	nodes := make(map[string]bool, len(leaving))
	for _, node := range leaving {
		nodes[node] = true
	}
	g.opened[pool] = nodes
}

// Open reports whether the node may leave the pool: whether it was among those that the last census let go.
func (g *Gate) Open(pool, node string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened[pool][node]
}
