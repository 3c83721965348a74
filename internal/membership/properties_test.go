// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// TestPlanProperties holds random nodes in random pools against what must be true of all of them.
func TestPlanProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		random := rand.New(rand.NewPCG(seed, 0))
		original := randomNode(random)
		all := randomPools(random)
		current := original.DeepCopy()
		for range 4 {
			shuffle(random, current, all)
			registers := random.IntN(4) == 0
			if registers { // as a kubelet that registers anew
				closed(current)
			}
			settle(t, seed, random, current, all)
			if isMember := len(NewPlan(current, prepared(all)).Members) > 0; registers && isClosed(current) == isMember {
				t.Fatalf("seed %d: a settled node in a pool: %t, and closed: %t", seed, isMember, isClosed(current))
			}
			open(current)
			plan := NewPlan(current, prepared(all))
			if len(plan.Pending) > 0 {
				t.Fatalf("seed %d: a settled node is pending for %v", seed, plan.Pending)
			}
			for _, name := range plan.Members {
				if diff := cmp.Diff([]string{all[name].MemberLabel()}, memberLabels(current, name)); diff != "" {
					t.Fatalf("seed %d: member labels of a settled node differ (-want +got):\n%s", seed, diff)
				}
			}
		}
		order := slices.Sorted(maps.Keys(all))
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, name := range order {
			deleting(all[name])
			settle(t, seed, random, current, all)
			if Carries(current, name) {
				t.Fatalf("seed %d: the node still carries the deleted pool %s", seed, name)
			}
			delete(all, name)
		}
		for _, name := range Of(current) {
			delete(current.Labels, nodesv1.RoleLabel(name))
		}
		if diff := cmp.Diff(original, current, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d: removing every pool does not restore the node (-original +current):\n%s", seed, diff)
		}
	}
}

// settle plays both controllers, in random order, until neither has anything to do.
func settle(t *testing.T, seed uint64, random *rand.Rand, node *corev1.Node, all map[string]*nodesv1.NodePool) {
	t.Helper()
	for range 50 {
		before := fmt.Sprint(node, statuses(all))
		if random.IntN(2) == 0 {
			closed, plan, labelled := isClosed(node), NewPlan(node, prepared(all)), node.DeepCopy()
			apply(t, node, plan)
			relabelledWell(t, seed, labelled, node, plan, all)
			after := NewPlan(node, prepared(all))
			if closed && !isClosed(node) && len(after.Members) > 0 && !after.Empty() {
				t.Fatalf("seed %d: the node was opened before everything was there: %+v", seed, after)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if random.IntN(2) == 0 {
				keepPool(node, all, name)
			}
		}
		if fmt.Sprint(node, statuses(all)) == before && quiet(node, all) {
			return
		}
	}
	t.Fatalf("seed %d: node and pools do not come to rest: %+v", seed, NewPlan(node, prepared(all)))
}

// relabelledWell fails where a patch leaves a member without any label that the RuntimeClass of a pool selects or is about to, or gives
// the strict label in a pool that lets nodes in by their address.
func relabelledWell(t *testing.T, seed uint64, before, after *corev1.Node, plan *Plan, all map[string]*nodesv1.NodePool) {
	t.Helper()
	for _, name := range plan.Members {
		pool, had, has := all[name], memberLabels(before, name), memberLabels(after, name)
		switch selected := pool.Status.MemberLabel; {
		case pool.DeletionTimestamp != nil:
		case len(had) > 0 && len(has) == 0, slices.Contains(had, selected) && !slices.Contains(has, selected):
			t.Fatalf("seed %d: the RuntimeClass of pool %s selects %q, and a member that had %v has %v", seed, name, selected, had, has)
		case len(pool.Spec.NodeCIDRs) > 0 && !slices.Contains(had, nodesv1.MemberLabel(name)) && slices.Contains(has, nodesv1.MemberLabel(name)):
			t.Fatalf("seed %d: a member of pool %s got the strict label", seed, name)
		}
	}
}

// memberLabels returns the member labels of the pool that the node carries.
func memberLabels(node *corev1.Node, pool string) []string {
	return slices.DeleteFunc(nodesv1.MemberLabels(pool), func(key string) bool {
		_, carried := node.Labels[key]
		return !carried
	})
}

// keepPool does what the pool controller does to the pool's status: note originals, select a member label, grow and shrink the ledger.
func keepPool(node *corev1.Node, all map[string]*nodesv1.NodePool, name string) {
	pool, plan := all[name], NewPlan(node, prepared(all))
	behind := pool.Spec.Rollout != nil && Behind(node, prepared(all), name)
	pool.Status.Rollout = nil
	if pool.Spec.Rollout != nil && behind && slices.Contains(plan.Members, name) {
		pool.Status.Rollout = &nodesv1.RolloutStatus{Nodes: []string{node.Name}}
	}
	drainOne(node, pool, plan)
	for _, original := range plan.Originals {
		if original.Pool == name {
			pool.Status.Originals = Remember(pool.Status.Originals, node, original)
		}
	}
	if len(plan.Originals) == 0 {
		pool.Status.Originals = Forget(pool.Status.Originals, map[types.UID][]Key{node.UID: plan.Kept[name]})
	}
	if pool.DeletionTimestamp == nil {
		relabelled := pool.Status.MemberLabel == pool.MemberLabel()
		labels := memberLabels(node, name)
		if !slices.Contains(plan.Members, name) || len(labels) == 0 || slices.Contains(labels, pool.MemberLabel()) {
			pool.Status.MemberLabel = pool.MemberLabel()
		}
		pool.Status.Ledger = Union(pool.Status.Ledger, Wanted(pool))
		if relabelled && !behind && !slices.Contains(plan.Pending, name) {
			pool.Status.Ledger = Wanted(pool)
		}
	}
}

// drainOne takes the drain of the node one step further.
func drainOne(node *corev1.Node, pool *nodesv1.NodePool, plan *Plan) {
	selectable := HasJoined(node, pool.Name)
	switch {
	case pool.Spec.Drain == nil || slices.Contains(plan.Members, pool.Name) && pool.DeletionTimestamp == nil:
		pool.Status.Draining = nil
	case len(pool.Status.Draining) == 0 && slices.Contains(plan.Leaving, pool.Name):
		pool.Status.Draining = []nodesv1.DrainingNode{{Node: node.Name, UID: node.UID}}
	case len(pool.Status.Draining) > 0 && pool.Status.Draining[0].Drained && !Carries(node, pool.Name):
		pool.Status.Draining = nil
	case len(pool.Status.Draining) > 0 && !selectable:
		pool.Status.Draining[0].Drained = true
	}
}

func isClosed(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == nodesv1.UninitializedTaint })
}

func open(node *corev1.Node) {
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == nodesv1.UninitializedTaint })
}

func quiet(node *corev1.Node, all map[string]*nodesv1.NodePool) bool {
	for name := range all {
		pool := all[name]
		if pool.Spec.Rollout != nil && Behind(node, prepared(all), name) || pool.DeletionTimestamp == nil && pool.Status.MemberLabel != pool.MemberLabel() {
			return false
		}
	}
	plan := NewPlan(node, prepared(all))
	return plan.Empty() && len(plan.Originals)+len(plan.Pending) == 0 && !slices.ContainsFunc(statuses(all), moves)
}

// moves reports whether a batch or a drain is still in progress.
func moves(s nodesv1.NodePoolStatus) bool {
	return s.Rollout != nil || len(s.Draining) > 0
}

func statuses(all map[string]*nodesv1.NodePool) []nodesv1.NodePoolStatus {
	var out []nodesv1.NodePoolStatus
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[name].Status)
	}
	return out
}

func prepared(all map[string]*nodesv1.NodePool) Pools {
	return byName(slices.Collect(maps.Values(all)))
}

// shuffle joins and leaves pools at random and changes their specs.
func shuffle(random *rand.Rand, node *corev1.Node, all map[string]*nodesv1.NodePool) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		delete(node.Labels, nodesv1.RoleLabel(name))
		if random.IntN(3) > 0 {
			node.Labels[nodesv1.RoleLabel(name)] = "true"
		}
		randomSpec(random, all[name])
		all[name].Spec.Rollout, all[name].Spec.Drain, all[name].Spec.NodeCIDRs = nil, nil, nil
		switch random.IntN(4) {
		case 0:
			all[name].Spec.NodeCIDRs = []nodesv1.CIDR{"10.20.0.0/16"} // the node's own
		case 1:
			all[name].Spec.NodeCIDRs = []nodesv1.CIDR{"192.0.2.0/24"}
		}
		if random.IntN(3) == 0 {
			all[name].Spec.Rollout = &nodesv1.Rollout{MaxConcurrent: intstr.FromInt32(1)}
		}
		if random.IntN(3) == 0 {
			all[name].Spec.Drain = &nodesv1.Drain{Policy: nodesv1.DrainEvict}
		}
	}
}

func randomNode(random *rand.Rand) *corev1.Node {
	n := node().With(at("10.20.1.2")).Obj()
	for i := range 4 {
		if random.IntN(2) == 0 {
			n.Labels[fmt.Sprintf("key-%d", i)] = fmt.Sprintf("value-%d", random.IntN(3))
		}
		if random.IntN(3) == 0 {
			n.Annotations = map[string]string{"key-0": "foreign"}
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{
				Key: fmt.Sprintf("taint-%d", i), Value: "foreign", Effect: corev1.TaintEffectNoSchedule,
			})
		}
	}
	return n
}

func randomPools(random *rand.Rand) map[string]*nodesv1.NodePool {
	all := map[string]*nodesv1.NodePool{}
	for i := range 1 + random.IntN(4) {
		name := fmt.Sprintf("pool-%d", i)
		all[name] = ready(pool(name).With(age(time.Duration(random.IntN(3))*time.Hour), func(p *nodesv1.NodePool) {
			p.Spec.Priority = int32(random.IntN(2))
			p.Spec.Overwrite = []nodesv1.OverwritePolicy{nodesv1.OverwriteNever, nodesv1.OverwriteRestore}[random.IntN(2)]
		}))
	}
	return all
}

func randomSpec(random *rand.Rand, pool *nodesv1.NodePool) {
	pool.Spec.Labels, pool.Spec.Taints = map[string]nodesv1.LabelValue{}, nil
	pool.Spec.Annotations = map[string]nodesv1.AnnotationValue{"key-0": nodesv1.AnnotationValue(strconv.Itoa(random.IntN(2)))}
	for i := range 4 {
		if random.IntN(2) == 0 {
			pool.Spec.Labels[fmt.Sprintf("key-%d", i)] = nodesv1.LabelValue(fmt.Sprintf("value-%d", random.IntN(3)))
		}
		if random.IntN(2) == 0 {
			pool.Spec.Taints = append(pool.Spec.Taints, nodesv1.Taint{
				Key: fmt.Sprintf("taint-%d", i), Value: strconv.Itoa(random.IntN(2)), Effect: corev1.TaintEffectNoSchedule,
			})
		}
	}
}

// TestPropertyConcerns compares the quick answer with the one that its documentation gives, also for records that somebody else has written.
func TestPropertyConcerns(t *testing.T) {
	t.Parallel()
	records := []string{
		"", "{", `{"red":{}}`, `{"red":{"labels":["pool"]}}`, `{"r\u0065d":{"labels":["pool"]}}`, `{"blue":{"labels":["red"]}}`, `{"blue":{"labels":["pool","example.com/a"]}}`,
		`{"reddish":{}}`, `["red"]`, `{"red":{"labels":["node-role.kubernetes.io/red"]}}`,
	}
	labels := []string{nodesv1.RoleLabel("red"), nodesv1.MemberLabel("red"), nodesv1.AddressLabel("red"), nodesv1.RoleLabel("blue"), "pool", "example.com/a"}
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1))
		n := &corev1.Node{}
		n.Name, n.Labels, n.Annotations = "n", map[string]string{}, map[string]string{}
		for _, key := range labels {
			if random.IntN(3) == 0 {
				n.Labels[key] = []string{"", "red"}[random.IntN(2)]
			}
		}
		if raw := records[random.IntN(len(records))]; raw != "" {
			n.Annotations[nodesv1.AppliedAnnotation] = raw
		}
		object := &nodesv1.NodePool{}
		object.Name = "red"
		if random.IntN(2) == 0 {
			object.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"pool": "red"}}
		}
		if random.IntN(2) == 0 {
			object.Status.Ledger.Labels = []string{"pool", nodesv1.RoleLabel("red")}
		}
		red, err := NewPool(object)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := red.Concerns(n), slices.Contains(Concerned(n), "red") || red.Has(n); got != want {
			t.Fatalf("seed %d: Concerns is %v, want %v, of a node with labels %v and record %s", seed, got, want, n.Labels, n.Annotations)
		}
	}
}
