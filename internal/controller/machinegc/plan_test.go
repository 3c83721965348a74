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
	second := observed{Observed: running, owned: true, state: "stopped", recorded: "b"}
	both := map[string]map[string]bool{"b": {"1": true}}
	doubled := memory{doubled: map[string]bool{"1": true}}
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
		"a second machine of an object is reported": {
			seen: observation{host: "a", machines: []observed{second}, others: both}, limits: deletes,
			want: decision{duplicates: []observed{second}, memory: doubled},
		},
		"a known second machine is not reported again, nor removed": {
			seen: observation{host: "a", machines: []observed{second}, others: both}, before: doubled, limits: deletes, want: decision{memory: doubled},
		},
		"a known second machine that hangs is not reported again": {
			seen:   observation{host: "a", machines: []observed{{Observed: silent, owned: true}}, others: both},
			before: doubled, want: decision{memory: doubled},
		},
		"a machine on the host of its object has no second one there": {
			seen: observation{host: "b", machines: []observed{second}, others: map[string]map[string]bool{"a": {"1": true}}},
			want: decision{wake: []types.NamespacedName{{Namespace: "default", Name: "one"}}},
		},
		"a machine whose host has got another name is not a second one": {
			seen:   observation{host: "a", machines: []observed{second}, others: map[string]map[string]bool{"c": {"1": true}}},
			before: doubled, want: decision{wake: []types.NamespacedName{{Namespace: "default", Name: "one"}}},
		},
		"a machine without a record of a host is not a second one": {
			seen: observation{host: "a", machines: []observed{{Observed: running, owned: true, state: "running"}}, others: both},
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
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(decision{}, memory{}, observed{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}
