// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// A pool learned of the taints of another one on its nodes half a second after they were there, and never of their end. It was not woken at all by what
// else decides about the nodes that both have: keys that the other one drops, its pause, its end.
func TestNeighboursAreWokenByChanges(t *testing.T) {
	t.Parallel()
	plain := build.Pool("b").Label("a", "1").Obj()
	tainted := build.Pool("b").Taint("out", "now", corev1.TaintEffectNoExecute).Obj()
	leaving := plain.DeepCopy()
	leaving.Status.Ledger.Taints = []string{"out=now:NoExecute"}
	shorter := plain.DeepCopy()
	shorter.Spec.Labels, shorter.Generation = nil, plain.Generation+1
	paused := build.Pool("b").Label("a", "1").With(func(p *nodesv1.NodePool) { p.Annotations = map[string]string{status.PausedAnnotation: "true"} }).Obj()
	counted := plain.DeepCopy()
	counted.Status.NodeCount = 3
	predicate := neighbourChanged()
	update := func(before, after *nodesv1.NodePool) bool {
		return predicate.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	for what, woken := range map[string]struct{ got, want bool }{
		"a new taint":                          {update(plain, tainted), true},
		"the end of a taint on the last node":  {update(leaving, plain), true},
		"a taint that waits for the last node": {update(tainted, leaving), false},
		"a label that it drops":                {update(plain, shorter), true},
		"a pause":                              {update(plain, paused), true},
		"a count":                              {update(plain, counted), false},
		"a pool with taints that is gone":      {predicate.Delete(event.DeleteEvent{Object: tainted}), true},
		"a pool without taints that is gone":   {predicate.Delete(event.DeleteEvent{Object: plain}), true},
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
	mates := func(names ...string) aggregate { return aggregate{sharing: names, mates: names} }
	steps := []struct {
		name  string
		pool  string
		nodes aggregate
		woken []string
	}{
		{name: "the first pool knows nobody", pool: "a"},
		{name: "a new pool wakes the pool on whose nodes it is", pool: "b", nodes: mates("a"), woken: []string{"a"}},
		{name: "which then knows it", pool: "a", nodes: mates("b")},
		{name: "one that only has something left there is not woken", pool: "c", nodes: aggregate{sharing: []string{"a", "b"}, mates: []string{"b"}}, woken: []string{"b"}},
		{name: "until it has a member in common", pool: "c", nodes: mates("a", "b"), woken: []string{"a", "b"}},
		{name: "one that has not been counted yet is not woken", pool: "b", nodes: mates("a", "c", "d")},
	}
	for _, step := range steps {
		r.meet(step.pool, step.nodes)
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
