// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestAPassSetsThePaceOfTheNextOne: nodes that have not followed yet are due, and none are once all have.
func TestAPassSetsThePaceOfTheNextOne(t *testing.T) {
	w := newStage(t)
	w.node("a", "p")
	w.node("b", "p")
	pool := w.pool("p", label("env", "dev"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	if got := w.pools.Due(pool.Name); got != 2 {
		t.Errorf("%d nodes are due before any has followed, want 2", got)
	}
	w.converge()
	if got := w.pools.Due(pool.Name); got != 0 {
		t.Errorf("%d nodes are due after all have followed, want none", got)
	}
}
