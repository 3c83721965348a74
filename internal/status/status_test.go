// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

var declared = status.Declaration{
	{Type: "Conflicted", Negative: true},
	{Type: "Synced"},
	{Type: "Told", Info: true},
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestApply(t *testing.T) {
	t.Parallel()
	healthy := func(m *status.Marks) {
		m.False("Conflicted", "NoConflict", "")
		m.True("Synced", "Synced", "")
		m.False("Told", "Told", "")
	}
	forGood := build.Pool("p").Paused().Obj()
	cases := map[string]struct {
		mark func(*status.Marks)
		want string
	}{
		"everything as it should be is Ready": {
			mark: healthy,
			want: "Ready=True/Ready Conflicted=False/NoConflict Paused=False/NotPaused Reconciling=False/Idle Stalled=False/NotStalled Synced=True/Synced Told=False/Told",
		},
		"nothing to be seen of a healthy object is the reason of Ready": {
			mark: func(m *status.Marks) { healthy(m); m.Reach("NoNodes", "no node matches") },
			want: "Ready=True/NoNodes Conflicted=False/NoConflict Paused=False/NotPaused Reconciling=False/Idle Stalled=False/NotStalled Synced=True/Synced Told=False/Told",
		},
		"what is wrong decides, not what is reached": {
			mark: func(m *status.Marks) { m.Reach("NoNodes", "no node matches"); m.False("Synced", "Syncing", "") },
			want: "Ready=False/Syncing Conflicted=Unknown/NotObserved Paused=False/NotPaused Reconciling=True/Syncing Stalled=False/NotStalled Synced=False/Syncing Told=Unknown/NotObserved",
		},
		"what was not observed is Unknown, and so is Ready": {
			mark: func(*status.Marks) {},
			want: "Ready=Unknown/NotObserved Conflicted=Unknown/NotObserved Paused=False/NotPaused Reconciling=True/NotObserved Stalled=False/NotStalled Synced=Unknown/NotObserved Told=Unknown/NotObserved",
		},
		"a condition that is wrong decides before one that is unknown": {
			mark: func(m *status.Marks) { m.False("Synced", "Syncing", "waiting") },
			want: "Ready=False/Syncing Conflicted=Unknown/NotObserved Paused=False/NotPaused Reconciling=True/Syncing Stalled=False/NotStalled Synced=False/Syncing Told=Unknown/NotObserved",
		},
		"a negative condition that is True makes Ready False": {
			mark: func(m *status.Marks) { healthy(m); m.True("Conflicted", "Held", "") },
			want: "Ready=False/Held Conflicted=True/Held Paused=False/NotPaused Reconciling=True/Held Stalled=False/NotStalled Synced=True/Synced Told=False/Told",
		},
		"a stalled pass is not reconciling": {
			mark: func(m *status.Marks) { healthy(m); m.Work("Rolling", ""); m.Stall("Refused", "no") },
			want: "Ready=False/Refused Conflicted=False/NoConflict Paused=False/NotPaused Reconciling=False/Idle Stalled=True/Refused Synced=True/Synced Told=False/Told",
		},
		"work that no condition shows keeps Ready from being True": {
			mark: func(m *status.Marks) { healthy(m); m.Work("Rolling", "") },
			want: "Ready=False/Rolling Conflicted=False/NoConflict Paused=False/NotPaused Reconciling=True/Rolling Stalled=False/NotStalled Synced=True/Synced Told=False/Told",
		},
		"a paused object is neither reconciling nor stalled": {
			mark: func(m *status.Marks) { m.False("Synced", "Syncing", ""); m.Pause(forGood) },
			want: "Ready=False/Syncing Conflicted=Unknown/NotObserved Paused=True/Paused Reconciling=False/Idle Stalled=False/NotStalled Synced=False/Syncing Told=Unknown/NotObserved",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := &nodesv1.NodePool{}
			marks := declared.Begin()
			tc.mark(marks)
			marks.Apply(pool, noon)
			if diff := cmp.Diff(tc.want, short(pool.Status.Conditions)); diff != "" {
				t.Errorf("conditions differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApplyKeepsTransitionTimes(t *testing.T) {
	t.Parallel()
	pool := &nodesv1.NodePool{}
	pool.Generation = 3
	marks := declared.Begin()
	marks.True("Synced", "Synced", "one")
	marks.Apply(pool, noon)

	marks = declared.Begin()
	marks.True("Synced", "Synced", "two")
	marks.False("Conflicted", "NoConflict", "")
	marks.Apply(pool, noon.Add(time.Hour))
	for _, condition := range pool.Status.Conditions {
		moved := condition.LastTransitionTime.After(noon)
		wantMoved := slices.Contains([]string{"Conflicted", status.Ready, status.Reconciling}, condition.Type)
		if moved != wantMoved {
			t.Errorf("transition time of %s moved: %t, want %t", condition.Type, moved, wantMoved)
		}
		if condition.ObservedGeneration != 3 {
			t.Errorf("%s describes generation %d", condition.Type, condition.ObservedGeneration)
		}
	}
	if pool.Status.ObservedGeneration != 3 {
		t.Errorf("observedGeneration is %d", pool.Status.ObservedGeneration)
	}
}

func TestApplyBoundsMessages(t *testing.T) {
	t.Parallel()
	pool := &nodesv1.NodePool{}
	marks := declared.Begin()
	marks.False("Synced", "Syncing", strings.Repeat("ä", 5000))
	marks.Apply(pool, noon)
	for _, condition := range pool.Status.Conditions {
		if len(condition.Message) > 1024 {
			t.Errorf("the message of %s has %d bytes", condition.Type, len(condition.Message))
		}
	}
}

func short(conditions []metav1.Condition) string {
	parts := make([]string, 0, len(conditions))
	for _, c := range conditions {
		parts = append(parts, c.Type+"="+string(c.Status)+"/"+c.Reason)
	}
	return strings.Join(parts, " ")
}
