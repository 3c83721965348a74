// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
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

// TestOriginalIsForgottenWithTheRecord: a node that waited for its batch had lost its record, so nothing named the key that the pool had replaced.
func TestOriginalIsForgottenWithTheRecord(t *testing.T) {
	t.Parallel()
	gpu := func(key string, batch ...string) *build.PoolBuilder {
		return pool("gpu").Label("env", "dev").With(oneAtATime(batch...), noted(key, "prod"))
	}
	lost := func() *build.NodeBuilder { return node().Role("gpu").With(carries(gpu("env")), withoutRecord) }
	cases := map[string]struct {
		pool *build.PoolBuilder
		node *corev1.Node
		want bool
	}{
		"a node with the value of the pool":          {gpu("env"), lost().Obj(), true},
		"a node with the value of another writer":    {gpu("env"), lost().Label("env", "test").Obj(), true},
		"a node without its member label":            {gpu("env"), node().Role("gpu").Label("env", "dev").Obj(), true},
		"a node of the present batch":                {gpu("env", "node"), lost().Obj(), true},
		"a node of no pool":                          {gpu("env"), node().Label("env", "dev").Obj(), false},
		"a key that the pool does not want":          {gpu("other"), lost().Obj(), false},
		"a key that the pool lost to another writer": {gpu("env", "node"), lost().Label("env", "test").Obj(), false},
		"a paused pool, whose node lost its record":  {gpu("env").Paused(), lost().Obj(), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := pools(tc.pool)
			kept := map[types.UID][]Key{tc.node.UID: NewPlan(tc.node, byName(list)).Kept["gpu"]}
			if got := len(Forget(list[0].Status.Originals, kept)) == 1; got != tc.want {
				t.Errorf("the original is kept: %t", got)
			}
		})
	}
}
