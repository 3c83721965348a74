// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// restrictedZone is a label that NodeRestriction keeps from kubelets.
const restrictedZone = "zone.node-restriction.kubernetes.io/name"

// TestKubeletShedsNothingOfItsPools lets a kubelet do to its node whatever NodeRestriction lets it do, while people change other pools:
// no patch of Windlass takes anything of two pools off the node that it has not left, one that somebody put it into by its role label
// and one that selects it by a label that no kubelet can set.
func TestKubeletShedsNothingOfItsPools(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 1))
		current, all := node().Role("labelled").Label(restrictedZone, "a").Obj(), randomPools(random)
		for i, steady := range []*nodesv1.NodePool{
			full("labelled").Obj(), full("selected").Selects(restrictedZone, "a").Obj(),
		} {
			steady.Spec.Priority = 10
			steady.Spec.Taints[0].Key = fmt.Sprintf("taint-%d", i)
			steady.Spec.Labels = map[string]nodesv1.LabelValue{fmt.Sprintf("key-%d", i): "ours"}
			steady.Status.Ledger = Wanted(steady)
			all[steady.Name] = steady
		}
		settle(t, seed, random, current, all)
		for range 8 {
			forge(random, current, all)
			shufflePools(random, current, all)
			for range 6 {
				mustKeep(t, seed, random, current, all)
			}
		}
	}
}

// mustKeep takes a step of a controller and fails if it takes anything of the two steady pools off the node.
func mustKeep(t *testing.T, seed uint64, random *rand.Rand, current *corev1.Node, all map[string]*nodesv1.NodePool) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if random.IntN(2) == 0 {
			keepPool(current, all, name)
		}
	}
	before := current.DeepCopy()
	plan := NewPlan(current, prepared(all))
	apply(t, current, plan)
	relabelledWell(t, seed, before, current, plan, all)
	for _, name := range []string{"labelled", "selected"} {
		if !slices.Contains(plan.Members, name) {
			t.Fatalf("seed %d: the node left pool %s by its record %s", seed, name, before.Annotations[nodesv1.AppliedAnnotation])
		}
		for _, want := range all[name].Spec.Taints {
			if !slices.ContainsFunc(current.Spec.Taints, func(have corev1.Taint) bool {
				return have.Key == want.Key && have.Value == want.Value && have.Effect == want.Effect
			}) {
				t.Fatalf("seed %d: the node shed taint %s of pool %s by its record %s", seed, want.Key, name, before.Annotations[nodesv1.AppliedAnnotation])
			}
		}
	}
	for key, value := range before.Labels {
		_, kept := current.Labels[key]
		steady := key == nodesv1.RoleLabel("labelled") || key == nodesv1.RoleLabel("selected") || value == "ours"
		if steady && !kept {
			t.Fatalf("seed %d: the node shed label %s by its record %s", seed, key, before.Annotations[nodesv1.AppliedAnnotation])
		}
	}
}

// forge does to the node what its kubelet may do: it writes annotations, addresses and those labels that are not restricted.
func forge(random *rand.Rand, current *corev1.Node, all map[string]*nodesv1.NodePool) {
	for i := range 4 {
		key := fmt.Sprintf("key-%d", i)
		switch random.IntN(4) {
		case 0:
			delete(current.Labels, key)
		case 1:
			current.Labels[key] = fmt.Sprintf("value-%d", random.IntN(3))
		}
	}
	if current.Annotations == nil {
		current.Annotations = map[string]string{}
	}
	forged := ParseRecord(current)
	if forged == nil || random.IntN(3) == 0 {
		forged = Record{}
	}
	keys := [aspectCount][]string{
		onLabels:      {restrictedZone, "key-0", "key-1", "key-2"},
		onAnnotations: {"key-0"},
		onTaints:      {"taint-0:NoSchedule", "taint-1:NoSchedule", "taint-2:NoSchedule"},
	}
	for name := range all {
		keys[onLabels] = append(keys[onLabels], nodesv1.RoleLabel(name), nodesv1.MemberLabel(name), nodesv1.AddressLabel(name))
	}
	for _, name := range append(slices.Sorted(maps.Keys(all)), "nowhere") {
		for _, of := range aspects() {
			for _, key := range keys[of] {
				if random.IntN(4) == 0 {
					forged.add(name, of, key)
				}
			}
		}
		if random.IntN(4) == 0 {
			delete(forged, name)
		}
	}
	current.Status.Addresses = nil
	if random.IntN(2) == 0 {
		at("10.20.1.2")(current)
	}
	current.Annotations[nodesv1.AppliedAnnotation] = forged.String()
	if random.IntN(6) == 0 {
		delete(current.Annotations, nodesv1.AppliedAnnotation)
	}
}

// shufflePools lets people change, pause, delete and join all pools but the steady ones, which they only pause.
func shufflePools(random *rand.Rand, current *corev1.Node, all map[string]*nodesv1.NodePool) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pool := all[name]
		pool.Annotations = nil
		if random.IntN(4) == 0 {
			metav1.SetMetaDataAnnotation(&pool.ObjectMeta, status.PausedAnnotation, "true")
		}
		switch pool.Spec.NodeCIDRs = nil; random.IntN(4) {
		case 0:
			pool.Spec.NodeCIDRs = []nodesv1.CIDR{"10.20.0.0/16"}
		case 1:
			pool.Spec.NodeCIDRs = []nodesv1.CIDR{"192.0.2.0/24"}
		}
		if name == "labelled" || name == "selected" {
			continue
		}
		delete(current.Labels, nodesv1.RoleLabel(name))
		if random.IntN(2) == 0 {
			current.Labels[nodesv1.RoleLabel(name)] = "true"
		}
		randomSpec(random, pool)
		pool.Spec.Overwrite = []nodesv1.OverwritePolicy{
			nodesv1.OverwriteNever, nodesv1.OverwriteRestore, nodesv1.OverwriteAlways,
		}[random.IntN(3)]
		if random.IntN(6) == 0 {
			deleting(pool)
		}
	}
	if random.IntN(4) == 0 {
		extra := fmt.Sprintf("pool-%d", random.IntN(4))
		all[extra] = ready(pool(extra).With(age(time.Hour)))
	}
}

func TestNodeThatForgesItsRecord(t *testing.T) {
	t.Parallel()
	member, byHand := nodesv1.MemberLabel("gpu"), nodesv1.RoleLabel("gpu")
	yes := corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}
	everything := `{"gpu":{"labels":["env","` + byHand + `","` + member + `"],"taints":["gpu:NoSchedule"]}}`
	cases := map[string]struct {
		node *corev1.Node
		pool []*nodesv1.NodePool
		want []corev1.Taint
	}{
		"claims that the role label of a person is Windlass' own": {
			node: node().With(carries(full("gpu"))).Role("gpu").Annotation(nodesv1.AppliedAnnotation, everything).Obj(), pool: pools(full("gpu")), want: []corev1.Taint{yes},
		},
		"claims that too where the pool selects other nodes": {
			node: node().With(carries(full("gpu"))).Role("gpu").Annotation(nodesv1.AppliedAnnotation, everything).Obj(), pool: pools(full("gpu").Selects("zone", "a")),
			want: []corev1.Taint{yes},
		},
		"claims that the label by which it is selected is Windlass' own": {
			node: node().With(carries(full("gpu"))).Label(restrictedZone, "a").
				Annotation(nodesv1.AppliedAnnotation, `{"gpu":{"labels":["`+restrictedZone+`","`+member+`"],"taints":["gpu:NoSchedule"]}}`).Obj(),
			pool: pools(full("gpu").Selects(restrictedZone, "a")), want: []corev1.Taint{yes},
		},
		"claims the taint for a paused pool that does not have it, before it has joined": {
			node: node().Role("gpu").Annotation(nodesv1.AppliedAnnotation, `{"other":{"taints":["gpu:NoSchedule"]}}`).Obj(), pool: pools(full("gpu"), pool("other").Paused()),
			want: []corev1.Taint{yes},
		},
		"forgets the taint of a paused pool, and claims it for one that is being deleted": {
			node: node().With(carries(full("gpu"))).Role("gpu").Annotation(nodesv1.AppliedAnnotation, `{"other":{"taints":["gpu:NoSchedule"]}}`).Obj(),
			pool: pools(full("gpu").Paused(), full("other").With(deleting)), want: []corev1.Taint{yes},
		},
		"forgets the taint, so that another pool may take it": {
			node: node().With(carries(full("gpu"))).Role("gpu").Role("other").Annotation(nodesv1.AppliedAnnotation, `{"gpu":{"labels":["`+member+`"]}}`).Obj(),
			pool: pools(full("gpu"), pool("other").Taint("gpu", "no", corev1.TaintEffectNoSchedule).With(age(-time.Hour)).Overwrite(nodesv1.OverwriteAlways)),
			want: []corev1.Taint{yes},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apply(t, tc.node, NewPlan(tc.node, byName(tc.pool)))
			if diff := cmp.Diff(tc.want, tc.node.Spec.Taints); diff != "" {
				t.Errorf("taints differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAttackARecordMakesANodeLeave: three machines that were never in a pool wrote that they were, and left it. The safety brake then held those that
// really left.
func TestAttackARecordMakesANodeLeave(t *testing.T) {
	t.Parallel()
	byHand := nodesv1.RoleLabel("gpu")
	draining := func(p *nodesv1.NodePool) {
		p.Status.Draining = []nodesv1.DrainingNode{{Node: "node", UID: "uid", Drained: true}}
	}
	record := func(keys string) *build.NodeBuilder {
		return node().Annotation(nodesv1.AppliedAnnotation, `{"gpu":`+keys+`}`)
	}
	lost := func(p *nodesv1.NodePool) { p.Status.Ledger.Labels = []string{"none"} }
	cases := map[string]struct {
		node             *build.NodeBuilder
		pool             *build.PoolBuilder
		leaving, claimed bool
		// goes is true for a record that does not wait until it is counted.
		goes bool
	}{
		"a key that is nowhere":                         {node: record(`{"labels":["x"]}`), pool: full("gpu"), claimed: true, goes: true},
		"a key of the pool that it does not have":       {node: record(`{"labels":["env"]}`), pool: full("gpu"), claimed: true, goes: true},
		"a taint of the pool that it does not have":     {node: record(`{"taints":["gpu:NoSchedule"]}`), pool: full("gpu"), claimed: true, goes: true},
		"a label of the pool that it has set itself":    {node: record(`{"labels":["env"]}`).Label("env", "dev"), pool: full("gpu"), leaving: true, claimed: true},
		"a taint of the pool, which no kubelet sets":    {node: record(`{"taints":["gpu:NoSchedule"]}`).Taint("gpu", "yes", corev1.TaintEffectNoSchedule), pool: full("gpu"), leaving: true},
		"a member label":                                {node: node().With(carries(full("gpu"))), pool: full("gpu"), leaving: true},
		"nothing that is there, after a drain":          {node: record(`{"labels":["env"]}`), pool: full("gpu").With(draining), leaving: true},
		"a key while the pool has yet to write its own": {node: record(`{"labels":["env"]}`).Label("env", "dev"), pool: full("gpu").With(lost), leaving: true, claimed: true},
		"a key of a member":                             {node: record(`{"labels":["x"]}`).Label(byHand, "true"), pool: full("gpu"), claimed: true, goes: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := NewClearedPlan(tc.node.Obj(), byName(pools(tc.pool)), func(string) bool { return false })
			if leaving, claimed := slices.Contains(plan.Leaving, "gpu"), slices.Contains(plan.Claimed, "gpu"); leaving != tc.leaving || claimed != tc.claimed {
				t.Errorf("it leaves: %t, by its own word alone: %t", leaving, claimed)
			}
			if got := plan.RecordChanged; got != tc.goes {
				t.Errorf("its record is written again: %t", got)
			}
		})
	}
}
