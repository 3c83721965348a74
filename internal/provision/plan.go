// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Plan is what applying a configuration will change.
type Plan struct {
	// Summary has one line for each change, in a fixed order; it is empty if no change is known.
	Summary []string
	// Destructive is true if something may be lost: a node is removed or loses a role, a version goes back, a network changes, or nodes that
	// cannot be read.
	Destructive bool
}

// maxSummary bounds the lines of a plan.
const maxSummary = 40

// Diff returns what changes from one configuration to another. Before is nil if none has been applied.
func Diff(before *Config, after Config) Plan {
	var plan Plan
	fresh := before == nil
	if fresh {
		before = &Config{}
	}
	plan.nodes(before.Nodes, after.Nodes)
	if before.Version != after.Version {
		plan.add("version: %s -> %s", orNone(before.Version), orNone(after.Version))
		plan.Destructive = plan.Destructive || before.Version != "" && older(after.Version, before.Version)
	}
	for _, key := range slices.Sorted(maps.Keys(union(before.Settings, after.Settings))) {
		was, had := before.Settings[key]
		is, has := after.Settings[key]
		switch {
		case fresh, was == is:
		case !had:
			plan.add("%s: added", key)
		case !has:
			plan.add("%s: removed", key)
		default:
			plan.add("%s: changed", key)
		}
		// The networks of a cluster cannot change while pods use them. Nodes are among the settings if nobody can tell whether one goes.
		bare := key
		if _, inner, further := strings.Cut(key, ofDocument); further {
			bare = inner
		}
		plan.Destructive = plan.Destructive || !fresh && was != is && (bare == "network" || bare == "services" || bare == "nodes")
	}
	if extra := len(plan.Summary) - maxSummary; extra > 0 {
		plan.Summary = append(plan.Summary[:maxSummary], fmt.Sprintf("and %d more", extra))
	}
	return plan
}

func (p *Plan) nodes(before, after []Node) {
	was, is := byName(before), byName(after)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		old, existed := was[name]
		switch {
		case !existed:
			p.add("node %s: added (%s)", name, strings.Join(is[name].Roles, ", "))
		case !slices.Equal(old.Roles, is[name].Roles):
			p.add("node %s: roles %s -> %s", name, strings.Join(old.Roles, ", "), strings.Join(is[name].Roles, ", "))
			for _, role := range old.Roles {
				p.Destructive = p.Destructive || !slices.Contains(is[name].Roles, role)
			}
		case old.Address == is[name].Address && old.rest != is[name].rest:
			p.add("node %s: changed", name)
		}
		if existed && old.Address != is[name].Address { // another machine under the same name
			p.add("node %s: address %s -> %s", name, old.Address, is[name].Address)
			p.Destructive = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, stays := is[name]; !stays {
			p.add("node %s: removed (%s)", name, strings.Join(was[name].Roles, ", "))
			p.Destructive = true
		}
	}
}

func (p *Plan) add(format string, args ...any) {
	p.Summary = append(p.Summary, fmt.Sprintf(format, args...))
}

func byName(nodes []Node) map[string]Node {
	out := make(map[string]Node, len(nodes))
	for _, node := range nodes {
		out[node.Name] = node
	}
	return out
}

func union(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

func orNone(version string) string {
	if version == "" {
		return "the tool's default"
	}
	return version
}

// older reports whether version a is before version b, number by number, such as v1.9.0 before v1.10.0. A version without numbers is not.
func older(a, b string) bool {
	left, right := numbers(a), numbers(b)
	return len(left) > 0 && len(right) > 0 && slices.Compare(left, right) < 0
}

func numbers(version string) []int {
	var list []int
	number, inside := 0, false
	for _, r := range strings.TrimPrefix(version, "v") + "." {
		switch {
		case r >= '0' && r <= '9' && number < 1<<20:
			number, inside = number*10+int(r-'0'), true
		case inside:
			list, number, inside = append(list, number), 0, false
		}
	}
	return list
}
