// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machinegc

import (
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

// sweepsUntilOutdated is how many sweeps in a row have to miss a retained machine before its entry goes. A host can be up some time before its
// machines are, and a machine that comes back without its entry is an orphan. A sweep counts only if all other hosts were swept since the last one that
// did: the machine can be on any of them, as when hosts have got other names.
const sweepsUntilOutdated = 6

// memory is what the next sweep of a host has to know. It is lost with the manager, and then everything only takes longer.
type memory struct {
	// number of the sweep among those of all hosts, and of the last one of the host before which all others were swept.
	number, complete int
	// since holds when each orphan was first seen, by UID.
	since map[string]time.Time
	// stays has the retained machines that the host has, by UID, and missed how many sweeps in a row have not found one that it should have.
	stays  map[string]bool
	missed map[string]int
	// machines are those that the host has, and doubled those of them that are the second one of their object, by UID.
	machines, doubled map[string]bool
}

// decision is what a sweep has to do.
type decision struct {
	memory

	// wake are the objects whose status differs from their machine.
	wake []types.NamespacedName
	// report are the orphans that were not seen before.
	report []machine.Observed
	// duplicates are the second machines of objects that were not seen before.
	duplicates []observed
	// remove are the orphans whose grace is over.
	remove []machine.Observed
	// outdated are the UIDs on the list of retained machines that are no longer on the host.
	outdated []string
}

// plan decides what to do about the machines of a host, in view of what earlier sweeps have seen.
func plan(seen observation, before memory, now time.Time, limits limits) decision {
	out := decision{memory: memory{since: map[string]time.Time{}, stays: map[string]bool{}, missed: map[string]int{}, doubled: map[string]bool{}}}
	for _, one := range seen.machines {
		_, stays := seen.retained[one.UID]
		switch {
		case stays:
			out.stays[one.UID] = true
		case one.Silent: // Whose it is, and whether it is an orphan, the next sweep may tell.
			if first, known := before.since[one.UID]; known {
				out.since[one.UID] = first
			}
			if before.doubled[one.UID] {
				out.doubled[one.UID] = true
			}
		case one.owned:
			out.own(one, seen, before)
		default:
			first, known := before.since[one.UID]
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
	out.miss(seen, before)
	return out
}

// own decides what to do about a machine that has an object. If the host that the object names has it, too, it is a second one, as after hosts have exchanged
// their names. That no other host has it says nothing: the host can have got another name.
func (d *decision) own(one observed, seen observation, before memory) {
	switch {
	case one.recorded != seen.host && seen.others[one.recorded][one.UID]:
		d.doubled[one.UID] = true
		if !before.doubled[one.UID] {
			d.duplicates = append(d.duplicates, one)
		}
	case !strings.EqualFold(one.state, string(one.State)):
		d.wake = append(d.wake, types.NamespacedName{Namespace: one.Namespace, Name: one.Name})
	}
}

// miss counts the sweeps that have not found a retained machine, and decides which entries go.
func (d *decision) miss(seen observation, before memory) {
	for uid, host := range seen.retained {
		if host != seen.host || d.stays[uid] || seen.elsewhere[uid] {
			continue
		}
		d.missed[uid] = before.missed[uid]
		if !seen.complete {
			continue
		}
		if d.missed[uid]++; d.missed[uid] >= sweepsUntilOutdated {
			d.outdated = append(d.outdated, uid)
		}
	}
	slices.Sort(d.outdated)
}
