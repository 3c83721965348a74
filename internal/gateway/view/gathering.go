// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import "slices"

// Gathering makes the page of a list that comes in parts. It keeps what can still be on the page, so that a page of a long list needs no more
// memory than itself and a part.
type Gathering struct {
	query *Query
	items []*Item
	// left is how many items come after the page, of those that are no longer kept.
	left int
	// size is that of the items that are kept.
	size int
}

// Gather returns a Gathering of what the query selects.
func (q *Query) Gather() *Gathering { return &Gathering{query: q} }

// Add adds a part of the list, in any order.
func (g *Gathering) Add(part []*Item) {
	order := g.query.order()
	var last *Item
	if g.query.after != nil {
		last = g.query.after.item()
	}
	for _, item := range part {
		if g.query.matches(item) && (last == nil || order(item, last) > 0) {
			g.items = append(g.items, item)
			g.size += len(item.JSON)
		}
	}
	g.cut()
}

// Join adds what another Gathering of the query has.
func (g *Gathering) Join(other *Gathering) {
	g.items, g.left, g.size = append(g.items, other.items...), g.left+other.left, g.size+other.size
	g.cut()
}

// Size returns how large the items are that are kept, in bytes of JSON.
func (g *Gathering) Size() int { return g.size }

// Page returns the page of what was added.
func (g *Gathering) Page() Page {
	slices.SortFunc(g.items, g.query.order())
	out := Page{Items: g.items, Remaining: g.left}
	if g.left > 0 {
		out.Continue = g.query.next(g.items[len(g.items)-1])
	}
	return out
}

// cut forgets what comes after the page.
func (g *Gathering) cut() {
	most := g.query.limit
	if most <= 0 || len(g.items) <= most {
		return
	}
	slices.SortFunc(g.items, g.query.order())
	for _, item := range g.items[most:] {
		g.size -= len(item.JSON)
	}
	g.left += len(g.items) - most
	g.items = slices.Clone(g.items[:most])
}
