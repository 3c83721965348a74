// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
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
