// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package clearance_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestClearanceIsForTheGrantedNodesOfOnePool(t *testing.T) {
	t.Parallel()
	type asked struct{ pool, node string }
	cases := map[string]struct {
		do   func(*clearance.Clearances)
		want []asked
	}{
		"nobody after a start": {do: func(*clearance.Clearances) {}},
		"only the granted nodes, and only of that pool": {
			do:   func(c *clearance.Clearances) { c.Grant("p", []string{"a"}) },
			want: []asked{{"p", "a"}},
		},
		"a grant replaces the one before": {
			do:   func(c *clearance.Clearances) { c.Grant("p", []string{"a"}); c.Grant("p", []string{"b"}) },
			want: []asked{{"p", "b"}},
		},
		"a grant to no node lets no node leave": {
			do: func(c *clearance.Clearances) { c.Grant("p", []string{"a"}); c.Grant("p", nil) },
		},
		"a withdrawal leaves other pools alone": {
			do: func(c *clearance.Clearances) {
				c.Grant("p", []string{"a"})
				c.Grant("q", []string{"b"})
				c.Withdraw("p")
			},
			want: []asked{{"q", "b"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clearances := &clearance.Clearances{}
			tc.do(clearances)
			var got []asked
			for _, pool := range []string{"p", "q"} {
				for _, node := range []string{"a", "b"} {
					if clearances.Granted(pool, node) {
						got = append(got, asked{pool, node})
					}
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(asked{})); diff != "" {
				t.Errorf("clearances differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClearanceWakesExactlyTheNodesThatGetIt(t *testing.T) {
	t.Parallel()
	clearances, queue := &clearance.Clearances{}, testkit.NewQueue(t)
	clearances.Grant("p", []string{"early"})
	if err := clearances.Wakeups.Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{name: "what was granted before the controller started, which begins with all nodes", do: func() {}},
		{name: "a new node, and not the one that had its clearance", do: func() { clearances.Grant("p", []string{"early", "a"}) }, want: []string{"a"}},
		{name: "the same grant again", do: func() { clearances.Grant("p", []string{"early", "a"}) }},
		{name: "the same node of another pool", do: func() { clearances.Grant("q", []string{"a"}) }, want: []string{"a"}},
		{name: "a withdrawal", do: func() { clearances.Withdraw("p") }},
		{name: "a grant after a withdrawal", do: func() { clearances.Grant("p", []string{"a", "a"}) }, want: []string{"a"}},
	}
	for _, step := range steps {
		step.do()
		if diff := cmp.Diff(step.want, testkit.TakeNames(queue), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: woken nodes differ (-want +got):\n%s", step.name, diff)
		}
	}
}

func TestNoWakeupIsLostBetweenManyPools(t *testing.T) {
	t.Parallel()
	const pools, nodes = 8, 50
	clearances, queue := &clearance.Clearances{}, testkit.NewQueue(t)
	if err := clearances.Wakeups.Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for pool := range pools {
		running.Go(func() {
			for node := range nodes {
				clearances.Grant(strconv.Itoa(pool), []string{strconv.Itoa(node)})
			}
		})
	}
	running.Wait()
	if got := len(testkit.TakeNames(queue)); got != nodes {
		t.Errorf("%d nodes are in the queue, want each of %d once", got, nodes)
	}
}
