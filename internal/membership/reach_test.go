// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// TestPropertyReach changes some of a node's random pools: where the changes do not reach the node, its plan is the same, and so is what it
// waits for in pools that have not changed.
func TestPropertyReach(t *testing.T) {
	t.Parallel()
	reached, spared := 0, 0
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 2))
		current, all := randomNode(random), randomPools(random)
		for range 3 {
			shuffle(random, current, all)
			for range random.IntN(6) { // maybe in the middle of something
				apply(t, current, NewPlan(current, prepared(all)))
				for _, name := range slices.Sorted(maps.Keys(all)) {
					keepPool(current, all, name)
				}
			}
		}
		before := prepared(all)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			changeOne(random, all, name)
		}
		after := prepared(all)
		changes, err := after.Changed(before)
		if err != nil {
			t.Fatal(err)
		}
		if changes.Reach(current) {
			reached++
			continue
		}
		spared++
		if diff := cmp.Diff(NewPlan(current, before), NewPlan(current, after), cmp.AllowUnexported(Key{})); diff != "" {
			t.Fatalf("seed %d: a change that does not reach the node changes its plan (-before +after):\n%s", seed, diff)
		}
		for name := range after {
			if !changes.Include(name) && Behind(current, before, name) != Behind(current, after, name) {
				t.Fatalf("seed %d: a change that does not reach the node changes what it waits for in pool %s", seed, name)
			}
		}
	}
	if reached < 500 || spared < 500 {
		t.Errorf("%d nodes are reached by a change and %d are not: the test says too little", reached, spared)
	}
}

// changeOne may change the pool, delete it, or create another one. The pool that was there stays as it is.
func changeOne(random *rand.Rand, all map[string]*nodesv1.NodePool, name string) {
	changed := all[name].DeepCopy()
	switch random.IntN(8) {
	case 0:
		randomSpec(random, changed)
		changed.Generation++
	case 1:
		changed.Status.Ledger = Union(changed.Status.Ledger, Wanted(changed))
	case 2:
		deleting(changed)
	case 3:
		changed.Status.Originals = nil
	case 4:
		delete(all, name)
		return
	case 5:
		other := ready(pool(name + "-other"))
		all[other.Name] = other
		return
	default:
		return
	}
	all[name] = changed
}

func TestCountsInAStatusReachNoNode(t *testing.T) {
	t.Parallel()
	was := ready(pool("gpu").Label("env", "dev"))
	is := was.DeepCopy()
	is.ResourceVersion, is.Status.NodeCount, is.Status.PodsToEvict = "2", 7, 3
	changes, err := byName([]*nodesv1.NodePool{is}).Changed(byName([]*nodesv1.NodePool{was}))
	if err != nil || len(changes) > 0 {
		t.Errorf("counts are taken for a change: %v, %v", changes, err)
	}
	is.Status.Ledger.Labels = append(is.Status.Ledger.Labels, "more")
	changes, err = byName([]*nodesv1.NodePool{is}).Changed(byName([]*nodesv1.NodePool{was}))
	if err != nil || !changes.Include("gpu") || changes.Include("other") {
		t.Errorf("a longer ledger is not taken for a change: %v, %v", changes, err)
	}
}

// TestAnOriginalThatWasNotedReachesItsNode: the pool that noted it may have nothing else to do with the node any more.
func TestAnOriginalThatWasNotedReachesItsNode(t *testing.T) {
	t.Parallel()
	taker := ready(pool("taker").Label("env", "dev"))
	current := node().Role("taker").With(carries(pool("taker").Label("env", "dev"))).Obj()
	giver := ready(pool("giver"))
	gone := giver.DeepCopy()
	giver.Status.Originals = Remember(nil, current, Original{Pool: "giver", Key: Key{onLabels, "env"}, Value: "foreign"})
	before, after := byName([]*nodesv1.NodePool{taker, giver}), byName([]*nodesv1.NodePool{taker, gone})
	if cmp.Equal(NewPlan(current, before), NewPlan(current, after), cmp.AllowUnexported(Key{})) {
		t.Fatal("the original does not change the plan: the test says nothing")
	}
	changes, err := after.Changed(before)
	if err != nil || !changes.Reach(current) {
		t.Errorf("an original that is no longer noted does not reach its node: %v, %v", changes, err)
	}
}
