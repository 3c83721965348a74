// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// What several pools share used to stay behind, or to come back, when the pools were deleted together: each of them saw the
// others, and those that were woken by their own deletion wrote the policies once more.
func TestPoolsDeletedTogetherLeaveNoPolicyBehind(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	stop := c.start(t)
	for round := range 8 {
		pools := make([]*nodesv1.NodePool, 0, 3)
		for i := range cap(pools) {
			pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("together-%d-%d", round, i)}}
			if i == 0 {
				pool.Spec = restricted()
			}
			c.Create(t, pool)
			pools = append(pools, pool)
		}
		for _, pool := range pools {
			testkit.Eventually(t, pool.Name+" is in force", func() bool {
				return c.Get(t, pool) && meta.IsStatusConditionTrue(pool.Status.Conditions, nodesv1.ConditionAdmissionReady)
			})
		}
		for _, pool := range pools {
			must(t, c.Live.Delete(t.Context(), pool))
		}
		for _, pool := range pools {
			testkit.Eventually(t, pool.Name+" is gone", func() bool { return !c.Get(t, pool) })
		}
		testkit.Eventually(t, fmt.Sprintf("nothing is left of round %d", round), func() bool { return len(c.managed(t)) == 0 })
	}
	stop()
	if left := c.managed(t); len(left) != 0 {
		t.Errorf("the controllers made %v again after the last pool was gone", left)
	}
}

func TestLeftoversAreDeletedAtTheStart(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pool := c.pool(t, "leftovers", restricted())
	c.converge(t, pool)
	testkit.Edit(t, c.Harness, pool, func(p *nodesv1.NodePool) { p.Finalizers = nil })
	must(t, c.Live.Delete(t.Context(), pool))
	if len(c.managed(t)) == 0 {
		t.Fatal("there is nothing left to be deleted")
	}
	c.start(t)
	testkit.Eventually(t, "nothing is left of a pool that went without Windlass", func() bool { return len(c.managed(t)) == 0 })
}
