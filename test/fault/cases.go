// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"strings"

	"github.com/windlass-operator/windlass/internal/machine"
)

// cases returns the faults to play in scenarios: all that were asked for, or a sample that only the seed decides on.
func (c *campaign) cases(rows []*row) []attempt {
	var all []attempt
	for _, r := range rows {
		own := c.casesOf(r)
		r.Cases = len(own)
		all = append(all, own...)
	}
	// The order is mixed, so that those that are still to come take as long as those that have been played.
	all = shuffle(spread(all, c.options.Sample, c.options.Seed), c.options.Seed)
	for i := range all {
		all[i].rest = c.options.rest(i)
	}
	return all
}

// casesOf returns the faults of one scenario that were asked for.
func (c *campaign) casesOf(r *row) []attempt {
	var all []attempt
	simulated, earlier := c.simulated(r), c.earlier(r)
	r.Same = 0
	for i, e := range r.Effects {
		if c.options.Effect != "" && e.String() != c.options.Effect {
			continue
		}
		for _, v := range c.options.variants() {
			switch {
			case !v.appliesTo(e) || !r.scenario.bears(v):
			case c.options.spares() && cmp.Or(
				r.scenario.sameAsFirst(e, r.Effects), v.sameAs(e, r.Effects[:i]), v.sameAsSimulated(e, simulated), v.sameAsPeer(e, r.Effects),
				v.sameAsEarlier(e, earlier)) != "":
				r.Same++
			default:
				all = append(all, attempt{row: r, fault: &fault{e, v}})
			}
		}
	}
	if c.options.Effect == "" {
		for _, d := range chosenDisturbances(c.options.Variants) {
			switch {
			case !r.scenario.bearsDisturbance(&d) || d.skews && c.skewed == "":
			case c.options.spares() && d.sameAsSimulated(simulated) != "":
				r.Same++
			default:
				all = append(all, attempt{row: r, disturbance: &d})
			}
		}
	}
	return all
}

// earlier returns the rows of the same kind that come before this one, and do not leave anything to a scenario with simulated machines.
func (c *campaign) earlier(r *row) []*row {
	var all []*row
	for _, other := range c.rows {
		if other == r {
			break
		}
		if other.kind() == r.kind() && !other.scenario.alone && c.simulated(other) == nil {
			all = append(all, other)
		}
	}
	return all
}

// kind returns the first part of the scenario's name. What is the same as a fault is one in a scenario of the same kind.
func (r *row) kind() string {
	kind, _, _ := strings.Cut(r.Scenario, "/")
	return kind
}

// simulated returns the row of the scenario that does with simulated machines what this one does on a real host, nil if it is not played.
func (c *campaign) simulated(r *row) *row {
	for _, driver := range []string{machine.DriverDocker, machine.DriverLibvirt} {
		title, ok := strings.CutPrefix(r.Scenario, "virtualmachine/"+driver+"-")
		if !ok {
			continue
		}
		for _, other := range c.rows {
			if other.Scenario == "virtualmachine/"+machine.DriverSimulated+"-"+title {
				return other
			}
		}
	}
	return nil
}
