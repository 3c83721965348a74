// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/membership"
)

// draining is what a pass sees of a node that is being drained.
type draining struct {
	entry nodesv1.DrainingNode
	// gone is true where the node does not exist any more, or another one has its name.
	gone bool
	// carries is true for a node that carries something of the pool.
	carries bool
	// progress is what the drain controller reported, if reported is true.
	progress clearance.Progress
	reported bool
}

// planDraining returns the nodes that are being drained from now on, and those among them that leave with pods because their time is
// over. A node is entered here first: the node controller takes the membership off it, and only then are pods evicted, so that they
// cannot come back to where they were. For nodes that the brake holds, no drain begins.
func planDraining(pool *nodesv1.NodePool, seen *observation, held []string, now time.Time) (entries, timedOut []nodesv1.DrainingNode) {
	if !membership.Evicts(pool) {
		return nil, nil
	}
	for _, d := range seen.draining {
		if !goesOn(pool, seen.nodes, d) {
			continue
		}
		entry, ends := follow(d)
		entries = append(entries, entry)
		if ends && d.progress.TimedOut {
			timedOut = append(timedOut, entry)
		}
	}
	entries = beginDrains(pool, entries, seen.nodes, held, now)
	slices.SortFunc(entries, func(a, b nodesv1.DrainingNode) int { return cmp.Compare(a.Node, b.Node) })
	return entries, timedOut
}

// goesOn reports whether the entry of a node is still needed: not for one that is gone or has come back, nor for one that has lost all
// that it had of the pool.
func goesOn(pool *nodesv1.NodePool, nodes aggregate, d draining) bool {
	switch {
	case d.gone, contains(nodes.memberNodes, d.entry.Node) && pool.DeletionTimestamp == nil:
		return false
	case d.entry.Drained:
		return d.carries || contains(nodes.leaving, d.entry.Node)
	}
	return true
}

// follow returns the entry with the progress that was reported, and whether that ends the drain.
func follow(d draining) (entry nodesv1.DrainingNode, ends bool) {
	entry = d.entry
	if entry.Drained || !d.reported {
		return entry, false
	}
	entry.PodsLeft = clampInt32(d.progress.PodsLeft)
	entry.Blocked, entry.Refusal, entry.Drained = d.progress.Blocked, d.progress.Refusal, d.progress.Done
	return entry, entry.Drained
}

// beginDrains enters the nodes that left, are not held and are not being drained, as long as there is room.
func beginDrains(
	pool *nodesv1.NodePool, entries []nodesv1.DrainingNode, nodes aggregate, held []string, now time.Time,
) []nodesv1.DrainingNode {
	for _, name := range nodes.leaving {
		uid := nodes.uids[name]
		known := slices.ContainsFunc(entries, func(d nodesv1.DrainingNode) bool { return d.UID == uid })
		if !known && !contains(held, name) && !onlyClaims(pool, nodes, name) && len(entries) < nodesv1.MaxDraining {
			entries = append(entries, nodesv1.DrainingNode{Node: name, UID: uid, StartTime: metav1.NewTime(now.Truncate(time.Second))})
		}
	}
	return entries
}

// onlyClaims reports whether a node leaves without a drain, because it has nothing of the pool but what its kubelet can write. An entry in the status is
// more than that: the brake would count the node from the next pass on. No brake is on a pool that is being deleted.
func onlyClaims(pool *nodesv1.NodePool, nodes aggregate, name string) bool {
	return pool.DeletionTimestamp == nil && contains(nodes.claimed, name)
}

// undrained returns the entries of the nodes that are still being drained.
func undrained(entries []nodesv1.DrainingNode) []nodesv1.DrainingNode {
	return slices.DeleteFunc(slices.Clone(entries), func(d nodesv1.DrainingNode) bool { return d.Drained })
}
