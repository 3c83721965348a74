// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// TestABatchWaitsForThePauseAfterTheLastOne: a batch whose beginning was written down by a clock that was an hour ahead held up the rollout for an hour.
func TestABatchWaitsForThePauseAfterTheLastOne(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		began time.Duration
		next  bool
		left  time.Duration
	}{
		"it has just begun":            {0, false, 30 * time.Second},
		"the pause is over":            {-30 * time.Second, true, 0},
		"another clock is ahead a bit": {10 * time.Second, false, 40 * time.Second},
		"it began in an hour":          {time.Hour, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := &nodesv1.NodePool{}
			pool.Spec.Rollout = &nodesv1.Rollout{MaxConcurrent: intstr.FromInt32(1), PauseSeconds: 30}
			pool.Status.Rollout = &nodesv1.RolloutStatus{TurnTime: new(metav1.NewTime(noon.Add(test.began)))}
			batch, left := NextBatch(pool, Extent{Members: 2, Ready: 2, Behind: []string{"b"}}, noon)
			if next := len(batch.Nodes) > 0; next != test.next || left != test.left {
				t.Errorf("the next batch begins: %v, or after %s; want %v, or after %s", next, left, test.next, test.left)
			}
		})
	}
}
