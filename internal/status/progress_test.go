// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestOnlyProgressIsProgress(t *testing.T) {
	t.Parallel()
	said := func(generation int64, mark func(*status.Marks)) []metav1.Condition {
		pool := build.Pool("p").With(func(p *nodesv1.NodePool) { p.Generation = generation }).Obj()
		marks := status.Declaration{{Type: "Failing", Negative: true}, {Type: "Synced"}}.Begin()
		marks.False("Failing", "NotFailing", "")
		marks.True("Synced", "Synced", "")
		mark(marks)
		marks.Apply(pool, noon)
		return pool.Status.Conditions
	}
	began := said(1, func(m *status.Marks) { m.Work("Begun", "nothing is there") })
	half := said(1, func(m *status.Marks) { m.Work("Moving", "half of it is there") })
	ready := said(1, func(*status.Marks) {})
	failing := said(1, func(m *status.Marks) { m.True("Failing", "Broken", "it is broken"); m.Work("Moving", "") })
	cases := map[string]struct {
		before, after []metav1.Condition
		want          bool
	}{
		"work has begun":                      {before: byDefault(), after: began, want: true},
		"work goes on":                        {before: began, after: half, want: true},
		"work goes on as before":              {before: half, after: half, want: true},
		"work is done":                        {before: half, after: ready},
		"a new object is ready at once":       {before: byDefault(), after: ready},
		"what was ready is being worked on":   {before: ready, after: began},
		"the spec is another one":             {before: half, after: said(2, func(m *status.Marks) { m.Work("Moving", "") })},
		"something fails":                     {before: half, after: failing},
		"something does not fail any more":    {before: failing, after: half},
		"the pass failed":                     {before: half, after: said(1, func(m *status.Marks) { m.Work(status.ReasonError, "no") })},
		"the pass of a new object failed":     {before: byDefault(), after: said(1, func(m *status.Marks) { m.Work(status.ReasonError, "no") })},
		"the pass failed while it was moving": {before: half, after: said(1, func(m *status.Marks) { m.False("Synced", "Moving", ""); m.Work(status.ReasonError, "no") })},
		"it stalls":                           {before: half, after: said(1, func(m *status.Marks) { m.Stall("Moving", "no") })},
		"it stalls no longer":                 {before: said(1, func(m *status.Marks) { m.Stall("Moving", "no") }), after: half},
		"it is paused": {before: half, after: said(1, func(m *status.Marks) {
			m.Work("Moving", "")
			m.Pause(build.Pool("p").Paused().Obj())
		})},
		"nobody knows what was before": {after: began},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if got := status.Progressed(tc.before, tc.after, []string{"Begun", "Moving"}); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
			if status.Progressed(tc.before, tc.after, nil) {
				t.Error("a kind that names no reasons has progress")
			}
		})
	}
}
