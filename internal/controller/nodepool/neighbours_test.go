// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// TestNeighboursAreWokenByTaints: a pool learned of the taints of another one on its nodes half a second after they were there, and never of their end.
func TestNeighboursAreWokenByTaints(t *testing.T) {
	t.Parallel()
	plain := build.Pool("b").Label("a", "1").Obj()
	tainted := build.Pool("b").Taint("out", "now", corev1.TaintEffectNoExecute).Obj()
	leaving := plain.DeepCopy()
	leaving.Status.Ledger.Taints = []string{"out=now:NoExecute"}
	predicate := taintsChanged()
	update := func(before, after *nodesv1.NodePool) bool {
		return predicate.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	for what, woken := range map[string]struct{ got, want bool }{
		"a new taint":                          {update(plain, tainted), true},
		"the end of a taint on the last node":  {update(leaving, plain), true},
		"a taint that waits for the last node": {update(tainted, leaving), false},
		"a label":                              {update(plain, build.Pool("b").Obj()), false},
		"a pool with taints that is gone":      {predicate.Delete(event.DeleteEvent{Object: tainted}), true},
		"a pool without taints that is gone":   {predicate.Delete(event.DeleteEvent{Object: plain}), false},
		"a pool that the first list has":       {predicate.Create(event.CreateEvent{Object: tainted}), false},
	} {
		if woken.got != woken.want {
			t.Errorf("%s wakes the neighbours: %t, want %t", what, woken.got, woken.want)
		}
	}
}

func TestNeighboursAreThoseThatShareNodes(t *testing.T) {
	t.Parallel()
	r := &Reconciler{}
	queue := testkit.NewQueue(t)
	if err := r.wakeups.Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	tainted := func(name string) *nodesv1.NodePool {
		return build.Pool(name).Taint("out", "now", corev1.TaintEffectNoExecute).Obj()
	}
	steps := []struct {
		name    string
		pool    *nodesv1.NodePool
		sharing []string
		woken   []string
	}{
		{name: "the first pool knows nobody", pool: tainted("a")},
		{name: "a new pool wakes the pool on whose nodes it is", pool: tainted("b"), sharing: []string{"a"}, woken: []string{"a"}},
		{name: "which then knows it", pool: tainted("a"), sharing: []string{"b"}},
		{name: "one without taints wakes nobody", pool: build.Pool("c").Obj(), sharing: []string{"a", "b"}},
		{name: "until it has some", pool: tainted("c"), sharing: []string{"a", "b"}, woken: []string{"a", "b"}},
		{name: "one that has not been counted yet is not woken", pool: tainted("b"), sharing: []string{"a", "c", "d"}},
	}
	for _, step := range steps {
		r.meet(step.pool, step.sharing)
		if got := testkit.TakeNames(queue); !slices.Equal(got, step.woken) {
			t.Errorf("%s: %v are woken, want %v", step.name, got, step.woken)
		}
	}
	names := func(pool string) (list []string) {
		for _, request := range r.neighboursOf(t.Context(), build.Pool(pool).Obj()) {
			list = append(list, request.Name)
		}
		return list
	}
	if got := names("a"); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("the neighbours of a are %v", got)
	}
	r.neighbours.drop("b")
	if got := names("a"); !slices.Equal(got, []string{"c"}) {
		t.Errorf("the neighbours of a are %v when b is gone", got)
	}
}
