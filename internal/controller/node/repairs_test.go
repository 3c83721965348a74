// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// TestRepairsThatWait gives a node one plan after the other at the same moment, and counts how many of them are carried out.
func TestRepairsThatWait(t *testing.T) {
	t.Parallel()
	sets := func(value string) *membership.Plan {
		return &membership.Plan{Members: []string{"gpu"}, SetLabels: map[string]string{"env": value}}
	}
	cases := map[string]struct {
		plan func(i int) *membership.Plan
		// edited is true where each plan is for another generation of the pool.
		edited bool
		want   int
	}{
		"the same value":  {plan: func(int) *membership.Plan { return sets("dev") }, want: maxRepairs},
		"only the record": {plan: func(int) *membership.Plan { return &membership.Plan{RecordChanged: true} }, want: maxRepairs},
		"a new value":     {plan: func(i int) *membership.Plan { return sets(string(rune('a' + i))) }, want: 20},
		"keys that alternate": {plan: func(i int) *membership.Plan {
			return []*membership.Plan{sets("dev"), {Members: []string{"gpu"}, RemoveLabels: []string{"old"}}}[i%2]
		}, want: maxRepairs + 1},
		"joins and leaves": {plan: func(i int) *membership.Plan {
			return []*membership.Plan{sets("dev"), {Leaving: []string{"gpu"}, RemoveLabels: []string{"env"}}}[i%2]
		}, want: 20},
		"edits of a pool that only the record shows": {plan: func(int) *membership.Plan {
			return &membership.Plan{Members: []string{"gpu"}, RecordChanged: true}
		}, edited: true, want: 20},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, node, r, got := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), build.Node("n").Obj(), &repairs{}, 0
			pool := build.Pool("gpu").Obj()
			pools := membership.Pools{"gpu": {NodePool: pool}}
			for i := range 20 {
				if tc.edited {
					pool.Generation++
				}
				if r.wait(node, pools, tc.plan(i), now) > 0 {
					continue
				}
				r.note(node, pools, tc.plan(i), now)
				got++
			}
			if got != tc.want {
				t.Errorf("%d plans are carried out, want %d", got, tc.want)
			}
			now = now.Add(repairsWithin)
			if left := r.wait(node, pools, tc.plan(0), now); left > 0 {
				t.Errorf("a minute later, %s are left", left)
			}
			r.note(build.Node("other").Obj(), pools, tc.plan(0), now)
			if len(r.of) != 1 {
				t.Errorf("a minute later, %d nodes are remembered, want the other one", len(r.of))
			}
		})
	}
}

func TestWhatANodeIsGiven(t *testing.T) {
	t.Parallel()
	const noSchedule = corev1.TaintEffectNoSchedule
	node := build.Node("n").Taint("theirs", "x", noSchedule).Taint("old", "x", noSchedule).Taint("gpu", "no", noSchedule).Obj()
	got := given(node, &membership.Plan{
		SetLabels: map[string]string{"a": "1"}, RemoveLabels: []string{"b"},
		SetAnnotations: map[string]string{"c": "2"}, RemoveAnnotations: []string{"d"},
		TaintsChanged: true, Taints: []corev1.Taint{
			{Key: "theirs", Value: "x", Effect: noSchedule}, {Key: "gpu", Value: "yes", Effect: noSchedule}, {Key: "new", Effect: noSchedule},
		},
		RecordChanged: true, Record: "{}",
	})
	want := map[string]string{
		"label a": "1", "label b": removed, "annotation c": "2", "annotation d": removed, "annotation " + nodesv1.AppliedAnnotation: "",
		"taint old:NoSchedule": removed, "taint gpu:NoSchedule": "yes", "taint new:NoSchedule": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it is given (-want +got):\n%s", diff)
	}
}
