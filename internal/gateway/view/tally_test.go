// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCountsOf(t *testing.T) {
	t.Parallel()
	ready, failed, pending := Health{State: HealthReady}, Health{HealthFailed, "Broken"}, Health{HealthPending, "Waiting"}
	for name, c := range map[string]struct {
		parts []Tally
		want  KindCounts
	}{
		"nothing": {nil, KindCounts{Kind: "pods", Reasons: []ReasonTally{}}},
		"two namespaces, the worst reason first": {
			[]Tally{{ready: 3, pending: 9}, {ready: 1, failed: 2, Health{HealthFailed, "Worse"}: 3}, nil},
			KindCounts{Kind: "pods", Total: 18, Ready: 4, Pending: 9, Failed: 5, Reasons: []ReasonTally{
				{"Worse", HealthFailed, 3}, {"Broken", HealthFailed, 2}, {"Waiting", HealthPending, 9},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, CountsOf("pods", c.parts...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAttackReasonsWithoutEnd invents a reason for every object.
func TestAttackReasonsWithoutEnd(t *testing.T) {
	t.Parallel()
	invented := Tally{}
	for i := range 1000 {
		invented.Add(Health{HealthFailed, fmt.Sprint("Reason", i)}, 1)
	}
	if got := CountsOf("podsets", invented); got.Failed != 1000 || len(got.Reasons) != maxReasons {
		t.Errorf("%d objects with %d reasons", got.Failed, len(got.Reasons))
	}
}

// TestSummaryOfCounts holds that objects which are counted one by one have the summary of those that are counted at once.
func TestSummaryOfCounts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	states := []HealthState{HealthReady, HealthPending, HealthFailed}
	for range 200 {
		var items []*Item
		counted := Tally{}
		for i := range random.IntN(40) {
			health := Health{State: states[random.IntN(len(states))]}
			if health.State != HealthReady {
				health.Reason = fmt.Sprint("Reason", random.IntN(3))
			}
			items = append(items, &Item{Name: fmt.Sprint("object-", i), Health: health})
			counted.Add(health, 1)
		}
		if diff := cmp.Diff(Summarize("pods", items), SummaryOf("pods", counted, items)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

// BenchmarkSummaryOf counts as many nodes and pods as the figure of docs/performance.md is about.
func BenchmarkSummaryOf(b *testing.B) {
	counted := Tally{}
	items := make([]*Item, 0, 15_000)
	for i := range 15_000 {
		health := Health{State: HealthReady}
		if i%10 == 9 {
			health = Health{HealthFailed, fmt.Sprint("Reason", i%3)}
		}
		items = append(items, &Item{Name: fmt.Sprint("object-", i), Health: health})
		counted.Add(health, 1)
	}
	b.Run("counted", func(b *testing.B) {
		for b.Loop() {
			SummaryOf("pods", counted, items)
		}
	})
	b.Run("walked", func(b *testing.B) {
		for b.Loop() {
			Summarize("pods", items)
		}
	})
}
