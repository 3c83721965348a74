// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machinegc

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/machine"
)

// limits say whether and when orphans are removed.
type limits struct {
	remove bool
	grace  time.Duration
}

// decision is what a sweep has to do.
type decision struct {
	// wake are the objects whose status differs from their machine.
	wake []types.NamespacedName
	// report are the orphans that were not seen before.
	report []machine.Observed
	// remove are the orphans whose grace is over.
	remove []machine.Observed
	// outdated are the UIDs on the list of retained machines that are no longer on the host.
	outdated []string
	// since holds when each orphan was first seen, by UID.
	since map[string]time.Time
}

// plan decides what to do about the machines of a host, of which the orphans in before were seen earlier.
func plan(seen observation, before map[string]time.Time, now time.Time, limits limits) decision {
	out := decision{since: map[string]time.Time{}}
	gone := maps.Clone(seen.retained)
	for _, one := range seen.machines {
		delete(gone, one.UID)
		switch {
		case seen.retained[one.UID]:
		case one.owned:
			if !strings.EqualFold(one.state, string(one.State)) {
				out.wake = append(out.wake, types.NamespacedName{Namespace: one.Namespace, Name: one.Name})
			}
		default:
			first, known := before[one.UID]
			if !known {
				first = now
				out.report = append(out.report, one.Observed)
			}
			out.since[one.UID] = first
			if limits.remove && now.Sub(first) >= limits.grace {
				out.remove = append(out.remove, one.Observed)
			}
		}
	}
	out.outdated = slices.Sorted(maps.Keys(gone))
	return out
}
