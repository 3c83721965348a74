// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/bits"
	"slices"
)

// exact is the largest cycle of files whose best order is found by trying all of them; 2^18 sets take a moment. Larger cycles
// are ordered by improving one file at a time, which finds an upper bound.
const exact = 18

// arrangement is the files of a package in the order in which the fewest calls run up.
type arrangement struct {
	files []string // first the one that a reader opens first
	calls []call
	up    []call
}

// share is the part of the calls between files that run up, in percent.
func (a arrangement) share() float64 {
	if len(a.calls) == 0 {
		return 0
	}
	return 100 * float64(len(a.up)) / float64(len(a.calls))
}

// entrances returns the files that a reader opens first, in this order, in any package that has them.
func entrances() []string { return []string{"doc.go", "main.go", "controller.go"} }

// arrange puts the files of a package in order: its entrances first, and then the others so that the fewest calls run up.
func arrange(files []string, calls []call) arrangement {
	a := arrangement{calls: calls}
	for _, entrance := range entrances() {
		if slices.Contains(files, entrance) {
			a.files = append(a.files, entrance)
		}
	}
	var rooms []string
	for _, file := range files {
		if !slices.Contains(a.files, file) {
			rooms = append(rooms, file)
		}
	}
	g := newGraph(rooms, calls)
	for _, component := range g.components() {
		for _, file := range g.order(component) {
			a.files = append(a.files, rooms[file])
		}
	}
	position := map[string]int{}
	for i, file := range a.files {
		position[file] = i
	}
	for _, one := range calls {
		if position[one.from] > position[one.to] {
			a.up = append(a.up, one)
		}
	}
	return a
}

// graph counts the calls between some files, which are numbers here.
type graph [][]int

func newGraph(files []string, calls []call) graph {
	number := map[string]int{}
	g := make(graph, len(files))
	for i, name := range files {
		number[name], g[i] = i, make([]int, len(files))
	}
	for _, one := range calls {
		from, inside := number[one.from]
		to, too := number[one.to]
		if inside && too {
			g[from][to]++
		}
	}
	return g
}

// components returns the files in groups: those that call each other in a cycle are one group, and a group calls only groups
// after it (Tarjan).
func (g graph) components() [][]int {
	t := tarjan{graph: g, index: make([]int, len(g)), low: make([]int, len(g)), on: make([]bool, len(g))}
	for _, file := range g.callersFirst() {
		if t.index[file] == 0 {
			t.visit(file)
		}
	}
	slices.Reverse(t.found)
	return t.found
}

// callersFirst returns all files, the least called last, so that the order of groups is stable and a reader's: components are
// found from the bottom to the top.
func (g graph) callersFirst() []int {
	called := make([]int, len(g))
	all := make([]int, len(g))
	for from := range g {
		all[from] = from
		for to, count := range g[from] {
			called[to] += count
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return called[b] - called[a] })
	return all
}

type tarjan struct {
	graph

	index, low []int
	on         []bool
	next       int
	stack      []int
	found      [][]int
}

func (t *tarjan) visit(file int) {
	t.next++
	t.index[file], t.low[file] = t.next, t.next
	t.stack, t.on[file] = append(t.stack, file), true
	for to, count := range t.graph[file] {
		switch {
		case count == 0:
		case t.index[to] == 0:
			t.visit(to)
			t.low[file] = min(t.low[file], t.low[to])
		case t.on[to]:
			t.low[file] = min(t.low[file], t.index[to])
		}
	}
	if t.low[file] != t.index[file] {
		return
	}
	start := slices.Index(t.stack, file)
	component := slices.Sorted(slices.Values(t.stack[start:]))
	t.stack = t.stack[:start]
	for _, member := range component {
		t.on[member] = false
	}
	t.found = append(t.found, component)
}

// order returns the files of a cycle in the order in which the fewest calls run up.
func (g graph) order(cycle []int) []int {
	switch {
	case len(cycle) == 1:
		return cycle
	case len(cycle) <= exact:
		return g.best(cycle)
	default:
		return g.improve(cycle)
	}
}

// best finds the best order for every set of files, from the sets with one file less: the last file of a set costs the calls
// that it makes to the rest of the set.
func (g graph) best(cycle []int) []int {
	cost := make([]int, 1<<len(cycle))
	last := make([]int, 1<<len(cycle))
	for set := 1; set < len(cost); set++ {
		cost[set] = -1
		for rest := set; rest != 0; rest &= rest - 1 {
			file := bits.TrailingZeros(uint(rest))
			before := set &^ (1 << file)
			total := cost[before]
			for others := before; others != 0; others &= others - 1 {
				total += g[cycle[file]][cycle[bits.TrailingZeros(uint(others))]]
			}
			if cost[set] < 0 || total < cost[set] {
				cost[set], last[set] = total, file
			}
		}
	}
	var ordered []int
	for set := len(cost) - 1; set != 0; set &^= 1 << last[set] {
		ordered = append(ordered, cycle[last[set]])
	}
	slices.Reverse(ordered)
	return ordered
}

// improve moves one file at a time to its best place until no move helps.
func (g graph) improve(cycle []int) []int {
	ordered := slices.Clone(cycle)
	for improved := true; improved; {
		improved = false
		for _, file := range cycle {
			at := slices.Index(ordered, file)
			rest := slices.Delete(slices.Clone(ordered), at, at+1)
			place, gain := at, 0
			// Moving the file past another swaps which of the calls between the two run up.
			for change, to := 0, at-1; to >= 0; to-- {
				if change += g[rest[to]][file] - g[file][rest[to]]; change < gain {
					place, gain = to, change
				}
			}
			for change, to := 0, at; to < len(rest); to++ {
				if change += g[file][rest[to]] - g[rest[to]][file]; change < gain {
					place, gain = to+1, change
				}
			}
			if gain < 0 {
				ordered, improved = slices.Insert(rest, place, file), true
			}
		}
	}
	return ordered
}
