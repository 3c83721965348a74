// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package clearance_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestDrainsWakeTheirPoolWithNews(t *testing.T) {
	t.Parallel()
	drains, queue := &clearance.Drains{}, testkit.NewQueue(t)
	if err := drains.Wakeups.Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	drain := clearance.Drain{Pool: "p", Node: "a", Start: start}
	steps := []struct {
		name     string
		progress clearance.Progress
		want     []string
	}{
		{name: "the first report", progress: clearance.Progress{PodsLeft: 2}, want: []string{"p"}},
		{name: "the same again", progress: clearance.Progress{PodsLeft: 2}},
		{name: "a pod that is blocked", progress: clearance.Progress{PodsLeft: 2, Blocked: []string{"a/b"}}, want: []string{"p"}},
		{
			name: "another refusal", progress: clearance.Progress{PodsLeft: 2, Blocked: []string{"a/b"}, Refusal: "no"}, want: []string{"p"},
		},
		{name: "the end", progress: clearance.Progress{Done: true}, want: []string{"p"}},
	}
	for _, step := range steps {
		drains.Report(drain, step.progress)
		if diff := cmp.Diff(step.want, testkit.TakeNames(queue), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: woken pools differ (-want +got):\n%s", step.name, diff)
		}
	}
	local := clearance.Drain{Pool: "p", Node: "a", Start: start.In(time.FixedZone("elsewhere", 3600))}
	if got, reported := drains.Progress(local); !reported || !got.Done {
		t.Errorf("the drain is not found by the same time in another zone: %+v", got)
	}
}

func TestDrainThatBeginsAgainBeginsAnew(t *testing.T) {
	t.Parallel()
	drains, start := &clearance.Drains{}, time.Unix(1000, 0)
	first := clearance.Drain{Pool: "p", Node: "a", Start: start}
	second := clearance.Drain{Pool: "p", Node: "a", Start: start.Add(time.Minute)}
	other := clearance.Drain{Pool: "q", Node: "a", Start: start}
	drains.Report(first, clearance.Progress{Done: true})
	drains.Report(other, clearance.Progress{PodsLeft: 1})
	if _, reported := drains.Progress(second); reported {
		t.Error("a second drain of a node begins with the progress of the first one")
	}
	drains.Keep("p", second)
	_, keptFirst := drains.Progress(first)
	_, keptOther := drains.Progress(other)
	if keptFirst || !keptOther {
		t.Errorf("a drain that is over is kept: %t, one of another pool: %t", keptFirst, keptOther)
	}
}
