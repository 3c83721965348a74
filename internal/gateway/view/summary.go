// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"slices"
	"strings"
)

// Summary counts the objects that a caller may list, the kinds with the most failed objects first.
type Summary struct {
	// Kinds are all kinds of which the caller may list something.
	Kinds []KindSummary `json:"kinds" nullable:"false" doc:"Kinds of which the caller may list something, the one with the most failed objects first"`
	// Hidden are the kinds that are not counted.
	Hidden []string `json:"hidden" nullable:"false" doc:"Kinds that are not counted: the caller may list none of them, or the gateway cannot watch them"`
}

// KindSummary counts the objects of one kind.
type KindSummary struct {
	// Kind as in the routes.
	Kind string `json:"kind" doc:"Kind, as in the routes"`
	// Total number of objects.
	Total int `json:"total" doc:"Number of objects"`
	// Ready, Pending and Failed are the objects in that state.
	Ready   int `json:"ready" doc:"Objects that work, or whose kind has no such state"`
	Pending int `json:"pending" doc:"Objects that do not work yet, or are being deleted"`
	Failed  int `json:"failed" doc:"Objects that do not work"`
	// Reasons why objects do not work.
	Reasons []ReasonCount `json:"reasons" nullable:"false" doc:"Reasons of objects that are not ready: failed before pending, the most frequent first"`
}

// ReasonCount counts the objects with one reason.
type ReasonCount struct {
	// Reason in one word.
	Reason string `json:"reason" doc:"Reason in one word, as in the condition"`
	// State of the objects.
	State HealthState `json:"state" enum:"pending,failed" doc:"State of the objects"`
	// Count of the objects.
	Count int `json:"count" doc:"Number of objects"`
	// Example is the first of them.
	Example Named `json:"example" doc:"The first of them"`
}

// Named names an object of a kind.
type Named struct {
	// Namespace of the object.
	Namespace string `json:"namespace,omitempty" doc:"Namespace; left out for cluster-scoped objects"`
	// Name of the object.
	Name string `json:"name" doc:"Name"`
}

// Summarize counts the items of a kind.
func Summarize(plural string, items []*Item) KindSummary {
	out := KindSummary{Kind: plural, Total: len(items), Reasons: []ReasonCount{}}
	at := map[Health]int{}
	for _, item := range items {
		switch item.Health.State {
		case HealthFailed:
			out.Failed++
		case HealthPending:
			out.Pending++
		default:
			out.Ready++
			continue
		}
		index, known := at[item.Health]
		if !known {
			index = len(out.Reasons)
			at[item.Health] = index
			out.Reasons = append(out.Reasons, ReasonCount{
				Reason: item.Health.Reason, State: item.Health.State, Example: Named{Namespace: item.Namespace, Name: item.Name},
			})
		}
		out.Reasons[index].Count++
	}
	out.sort()
	return out
}

// SummaryOf does the same with objects that are counted already. It looks at items only until it has an example of each reason.
func SummaryOf(plural string, counted Tally, items []*Item) KindSummary {
	counts := counted.counts(plural)
	out := KindSummary{
		Kind: plural, Total: counts.Total, Ready: counts.Ready, Pending: counts.Pending, Failed: counts.Failed, Reasons: make([]ReasonCount, len(counts.Reasons)),
	}
	missing := map[Health]int{}
	for i, reason := range counts.Reasons {
		missing[Health{State: reason.State, Reason: reason.Reason}] = i
		out.Reasons[i] = ReasonCount{Reason: reason.Reason, State: reason.State, Count: reason.Count}
	}
	for _, item := range items {
		if len(missing) == 0 {
			break
		}
		if at, wanted := missing[item.Health]; wanted {
			out.Reasons[at].Example = Named{Namespace: item.Namespace, Name: item.Name}
			delete(missing, item.Health)
		}
	}
	return out
}

// sort orders the reasons: failed before pending, the most frequent first.
func (s *KindSummary) sort() {
	slices.SortFunc(s.Reasons, func(a, b ReasonCount) int {
		return cmp.Or(strings.Compare(string(a.State), string(b.State)), cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
}

// SortSummaries puts the kind with the most failed objects first, then the one with the most pending ones.
func SortSummaries(kinds []KindSummary) {
	slices.SortStableFunc(kinds, func(a, b KindSummary) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Pending, a.Pending))
	})
}

// Found is the result of a search.
type Found struct {
	// Items are the objects that were found.
	Items []FoundItem `json:"items" nullable:"false" doc:"Objects that match, by kind, namespace and name"`
	// More is true if there are more than the limit.
	More bool `json:"more" doc:"Whether there are more than the limit"`
	// Hidden are the kinds that were not searched.
	Hidden []string `json:"hidden" nullable:"false" doc:"Kinds that were not searched: the caller may list none of them, or the gateway cannot watch them"`
}

// FoundItem names an object that was found.
type FoundItem struct {
	Named

	// Kind as in the routes.
	Kind string `json:"kind" doc:"Kind, as in the routes"`
	// State of the object.
	State HealthState `json:"state" enum:"ready,pending,failed" doc:"State of the object"`
	// Reason of the state.
	Reason string `json:"reason,omitempty" doc:"Reason of the state; left out for an object that is ready"`
}
