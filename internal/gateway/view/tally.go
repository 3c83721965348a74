// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"slices"
	"strings"
)

// maxReasons is how many reasons of a kind a stream tells: a client that writes statuses can invent them.
const maxReasons = 32

// Tally counts objects by their health. Unlike a Summary it is kept up to date, object by object.
type Tally map[Health]int

// Add counts so many more objects of that health; fewer if the number is negative.
func (t Tally) Add(health Health, more int) {
	if t[health] += more; t[health] == 0 {
		delete(t, health)
	}
}

// KindCounts counts the objects of one kind.
type KindCounts struct {
	// Kind as in the routes.
	Kind string `json:"kind"`
	// Total number of objects.
	Total int `json:"total"`
	// Ready, Pending and Failed are the objects in that state.
	Ready   int `json:"ready"`
	Pending int `json:"pending"`
	Failed  int `json:"failed"`
	// Reasons why objects do not work: failed before pending, the most frequent first.
	Reasons []ReasonTally `json:"reasons"`
}

// ReasonTally counts the objects with one reason.
type ReasonTally struct {
	// Reason in one word.
	Reason string `json:"reason"`
	// State of the objects.
	State HealthState `json:"state"`
	// Count of the objects.
	Count int `json:"count"`
}

// CountsOf returns the counts of a kind from the tallies of its parts, with the most important reasons.
func CountsOf(plural string, parts ...Tally) KindCounts {
	sum := Tally{}
	for _, part := range parts {
		for health, count := range part {
			sum.Add(health, count)
		}
	}
	out := sum.counts(plural)
	out.Reasons = out.Reasons[:min(len(out.Reasons), maxReasons)]
	return out
}

// counts returns the counts of a kind with all reasons.
func (t Tally) counts(plural string) KindCounts {
	out := KindCounts{Kind: plural, Reasons: make([]ReasonTally, 0, len(t))}
	for health, count := range t {
		out.Total += count
		switch health.State {
		case HealthFailed:
			out.Failed += count
		case HealthPending:
			out.Pending += count
		default:
			out.Ready += count
			continue
		}
		out.Reasons = append(out.Reasons, ReasonTally{Reason: health.Reason, State: health.State, Count: count})
	}
	slices.SortFunc(out.Reasons, func(a, b ReasonTally) int {
		return cmp.Or(strings.Compare(string(a.State), string(b.State)), cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	return out
}

// SortCounts puts the kind with the most failed objects first, then the one with the most pending ones.
func SortCounts(kinds []KindCounts) {
	slices.SortStableFunc(kinds, func(a, b KindCounts) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Pending, a.Pending))
	})
}
