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
	deletes := limits{remove: true, grace: 10 * time.Minute}
	cases := map[string]struct {
		seen   observation
		before map[string]time.Time
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
			want: decision{report: []machine.Observed{running}, since: map[string]time.Time{"1": noon}},
		},
		"a known orphan is not reported again": {
			seen: observation{machines: []observed{orphan}}, before: map[string]time.Time{"1": earlier},
			want: decision{since: map[string]time.Time{"1": earlier}},
		},
		"an orphan is removed after the grace": {
			seen: observation{machines: []observed{orphan}}, before: map[string]time.Time{"1": earlier}, limits: deletes,
			want: decision{remove: []machine.Observed{running}, since: map[string]time.Time{"1": earlier}},
		},
		"an orphan is not removed before the grace is over": {
			seen: observation{machines: []observed{orphan}}, before: map[string]time.Time{"1": noon.Add(-9 * time.Minute)}, limits: deletes,
			want: decision{since: map[string]time.Time{"1": noon.Add(-9 * time.Minute)}},
		},
		"a retained machine is not an orphan": {
			seen:   observation{machines: []observed{orphan}, retained: map[string]bool{"1": true}},
			before: map[string]time.Time{"1": earlier}, limits: deletes,
		},
		"a retained machine that is gone leaves the list": {
			seen: observation{retained: map[string]bool{"2": true, "1": true}},
			want: decision{outdated: []string{"1", "2"}},
		},
		"an orphan that is gone is forgotten": {before: map[string]time.Time{"1": earlier}, limits: deletes},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := plan(tc.seen, tc.before, noon, tc.limits)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(decision{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}
