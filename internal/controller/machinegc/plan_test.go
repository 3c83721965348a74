// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machinegc

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/machine"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	earlier := noon.Add(-time.Hour)
	running := machine.Observed{Identity: machine.Identity{UID: "1", Namespace: "default", Name: "one"}, State: machine.StateRunning}
	orphan := observed{Observed: running}
	silent := machine.Observed{Identity: machine.Identity{UID: "1"}, Silent: true, State: machine.StateUnknown}
	since := func(at time.Time) memory { return memory{since: map[string]time.Time{"1": at}} }
	missed := func(sweeps int) memory { return memory{missed: map[string]int{"1": sweeps, "2": sweeps}} }
	stays := memory{stays: map[string]bool{"1": true}}
	listed := func(host string) map[string]string { return map[string]string{"1": host, "2": "elsewhere"} }
	deletes := limits{remove: true, grace: 10 * time.Minute}
	cases := map[string]struct {
		seen   observation
		before memory
		limits limits
		want   decision
	}{
		"a machine with an object is left alone": {
			seen: observation{machines: []observed{{Observed: running, owned: true, state: "running"}}},
		},
		"an object whose status differs is woken": {
			seen: observation{machines: []observed{{Observed: running, owned: true, state: "stopped"}}},
			want: decision{wake: []types.NamespacedName{{Namespace: "default", Name: "one"}}},
		},
		"a new orphan is reported": {
			seen: observation{machines: []observed{orphan}}, limits: deletes,
			want: decision{report: []machine.Observed{running}, memory: since(noon)},
		},
		"a known orphan is not reported again": {
			seen: observation{machines: []observed{orphan}}, before: since(earlier),
			want: decision{memory: since(earlier)},
		},
		"an orphan is removed after the grace": {
			seen: observation{machines: []observed{orphan}}, before: since(earlier), limits: deletes,
			want: decision{remove: []machine.Observed{running}, memory: since(earlier)},
		},
		"an orphan is not removed before the grace is over": {
			seen: observation{machines: []observed{orphan}}, before: since(noon.Add(-9 * time.Minute)), limits: deletes,
			want: decision{memory: since(noon.Add(-9 * time.Minute))},
		},
		"a machine that hangs is no new orphan": {
			seen: observation{machines: []observed{{Observed: silent, owned: true}}}, limits: deletes,
		},
		"a known orphan that hangs is left alone": {
			seen: observation{machines: []observed{{Observed: silent, owned: true}}}, before: since(earlier), limits: deletes,
			want: decision{memory: since(earlier)},
		},
		"a retained machine that hangs stays": {
			seen:   observation{host: "a", machines: []observed{{Observed: silent, owned: true}}, retained: listed("a"), complete: true},
			before: missed(5), want: decision{memory: stays},
		},
		"a retained machine is not an orphan": {
			seen:   observation{host: "a", machines: []observed{orphan}, retained: listed("a")},
			before: since(earlier), limits: deletes, want: decision{memory: stays},
		},
		"a retained machine whose host has got another name is not an orphan": {
			seen:   observation{host: "a", machines: []observed{orphan}, retained: listed("old")},
			before: since(earlier), limits: deletes, want: decision{memory: stays},
		},
		"a retained machine that a sweep has missed stays on the list": {
			seen: observation{host: "a", retained: listed("a"), complete: true}, want: decision{memory: memory{missed: map[string]int{"1": 1}}},
		},
		"a retained machine that is gone leaves the list": {
			seen: observation{host: "a", retained: listed("a"), complete: true}, before: missed(5),
			want: decision{memory: memory{missed: map[string]int{"1": 6}}, outdated: []string{"1"}},
		},
		"a retained machine that may be on another host stays on the list": {
			seen: observation{host: "a", retained: listed("a")}, before: missed(5),
			want: decision{memory: memory{missed: map[string]int{"1": 5}}},
		},
		"a retained machine that is back is not gone": {
			seen: observation{host: "a", machines: []observed{orphan}, retained: listed("a"), complete: true}, before: missed(5), want: decision{memory: stays},
		},
		"a retained machine whose host has swapped names with another one is not gone": {
			seen:   observation{host: "a", retained: listed("a"), elsewhere: map[string]bool{"1": true}, complete: true},
			before: missed(5),
		},
		"an orphan that is gone is forgotten": {before: since(earlier), limits: deletes},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := plan(tc.seen, tc.before, noon, tc.limits)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(decision{}, memory{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}
