// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pairs is how many pairs of configurations each property is tried with. They are small and share most names, so that all kinds of
// changes meet often.
const pairs = 3000

// drawn is a configuration and the number behind its version, -1 where it asks for none.
type drawn struct {
	Config

	version int
}

// draw returns a configuration at random.
func draw(random *rand.Rand) drawn {
	config := drawn{Config: Config{Settings: map[string]string{}}, version: random.IntN(13) - 1}
	if config.version >= 0 {
		config.Version = fmt.Sprintf("v1.%d.0", config.version)
	}
	for _, name := range []string{"one", "two", "three", "four"} {
		if random.IntN(4) == 0 {
			continue
		}
		node := Node{Name: name, Address: "127.0.0.1", rest: strconv.Itoa(random.IntN(2))}
		if random.IntN(8) == 0 {
			node.Address = "127.0.0.2"
		}
		for _, role := range []string{"controlplane", "etcd", "worker"} {
			if random.IntN(4) > 0 {
				node.Roles = append(node.Roles, role)
			}
		}
		config.Nodes = append(config.Nodes, node)
	}
	for _, key := range []string{"addons", "network", "services"} {
		if random.IntN(4) > 0 {
			config.Settings[key] = "sha256:" + strconv.Itoa(random.IntN(6)/5)
		}
	}
	return config
}

// vary returns a configuration that differs from another one in few things: most have one kind of change only.
func vary(random *rand.Rand, from drawn) drawn {
	to, other := from, draw(random)
	switch random.IntN(4) {
	case 0:
		to.Nodes = other.Nodes
	case 1:
		to.Version, to.version = other.Version, other.version
	case 2:
		to.Settings = other.Settings
	default:
		to = other
	}
	return to
}

// losses returns what a change loses, found out without the plan.
func losses(before, after drawn) []string {
	var lost []string
	for _, old := range before.Nodes {
		at := slices.IndexFunc(after.Nodes, func(n Node) bool { return n.Name == old.Name })
		if at < 0 {
			lost = append(lost, "a node")
			continue
		}
		if old.Address != after.Nodes[at].Address {
			lost = append(lost, "an address")
		}
		for _, role := range old.Roles {
			if !slices.Contains(after.Nodes[at].Roles, role) {
				lost = append(lost, "a role")
			}
		}
	}
	if after.version >= 0 && after.version < before.version {
		lost = append(lost, "a version")
	}
	for _, key := range []string{"network", "services"} {
		if before.Settings[key] != after.Settings[key] {
			lost = append(lost, "a network")
		}
	}
	slices.Sort(lost)
	return slices.Compact(lost)
}

func TestAPlanIsDestructiveExactlyWhereSomethingIsLost(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	alone := map[string]int{}
	for range pairs {
		before := draw(random)
		after := vary(random, before)
		lost := losses(before, after)
		if plan := Diff(&before.Config, after.Config); plan.Destructive != (len(lost) > 0) {
			t.Fatalf("destructive: %t, though it loses %q:\n%s", plan.Destructive, lost, strings.Join(plan.Summary, "\n"))
		}
		if len(lost) < 2 {
			alone[strings.Join(lost, "")]++
		}
	}
	// Each loss has to have decided by itself, or the property says less than it seems to.
	for _, loss := range []string{"", "a node", "an address", "a role", "a version", "a network"} {
		if alone[loss] == 0 {
			t.Errorf("no pair lost %q alone", loss)
		}
	}
}

func TestAPlanTellsOfEachNodeThatComesOrGoes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range pairs {
		before := draw(random)
		after := vary(random, before)
		var want []string
		for _, node := range after.Nodes {
			if !slices.ContainsFunc(before.Nodes, func(n Node) bool { return n.Name == node.Name }) {
				want = append(want, fmt.Sprintf("node %s: added (%s)", node.Name, strings.Join(node.Roles, ", ")))
			}
		}
		for _, node := range before.Nodes {
			if !slices.ContainsFunc(after.Nodes, func(n Node) bool { return n.Name == node.Name }) {
				want = append(want, fmt.Sprintf("node %s: removed (%s)", node.Name, strings.Join(node.Roles, ", ")))
			}
		}
		var got []string
		for _, line := range Diff(&before.Config, after.Config).Summary {
			if strings.HasPrefix(line, "node ") && (strings.Contains(line, ": added (") || strings.Contains(line, ": removed (")) {
				got = append(got, line)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("the nodes differ (-want +got):\n%s", diff)
		}
	}
}

func TestAPlanIsEmptyExactlyWhereNothingChanges(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range pairs {
		before := draw(random)
		if plan := Diff(&before.Config, before.Config); len(plan.Summary) > 0 || plan.Destructive {
			t.Fatalf("a configuration differs from itself: %+v", plan)
		}
		after := vary(random, before)
		same := before.Version == after.Version && maps.Equal(before.Settings, after.Settings) &&
			cmp.Equal(before.Nodes, after.Nodes, cmp.AllowUnexported(Node{}))
		if plan := Diff(&before.Config, after.Config); same != (len(plan.Summary) == 0) {
			t.Fatalf("the same: %t, and the plan is %+v", same, plan)
		}
		if plan := Diff(nil, after.Config); plan.Destructive {
			t.Fatalf("a cluster that is new loses something: %+v", plan)
		}
	}
}

func TestAPlanDoesNotDependOnTheOrderOfNodes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for range pairs {
		before := draw(random)
		after := vary(random, before)
		want := Diff(&before.Config, after.Config)
		for _, config := range []*drawn{&before, &after} {
			config.Nodes = slices.Clone(config.Nodes)
			random.Shuffle(len(config.Nodes), func(i, j int) { config.Nodes[i], config.Nodes[j] = config.Nodes[j], config.Nodes[i] })
		}
		if diff := cmp.Diff(want, Diff(&before.Config, after.Config)); diff != "" {
			t.Fatalf("the plan differs in another order (-want +got):\n%s", diff)
		}
	}
}

func TestALongPlanIsBounded(t *testing.T) {
	t.Parallel()
	var config Config
	for i := range 1000 {
		config.Nodes = append(config.Nodes, Node{Name: fmt.Sprintf("node-%03d", i)})
	}
	plan := Diff(&config, Config{})
	if last := plan.Summary[len(plan.Summary)-1]; len(plan.Summary) != maxSummary+1 || last != "and 960 more" || !plan.Destructive {
		t.Errorf("%d lines, the last is %q, destructive: %t", len(plan.Summary), last, plan.Destructive)
	}
}
