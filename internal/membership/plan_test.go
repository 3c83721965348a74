// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

func TestNewPlan(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		node *corev1.Node
		pool []*nodesv1.NodePool
		want Plan
	}{
		"a node of no pool is left alone": {
			node: node(label("a", "b"), taint("x", "y", corev1.TaintEffectNoSchedule)),
			pool: pools(pool("gpu", withLabel("env", "dev"))),
		},
		"a role that is no pool is left alone": {
			node: node(role("control-plane")),
			pool: pools(pool("gpu")),
		},
		"a member gets labels, taints, the member label and a record": {
			node: node(role("gpu"), label("a", "b")),
			pool: pools(pool("gpu", withLabel("env", "dev"), withTaint("gpu", "yes", corev1.TaintEffectNoSchedule))),
			want: Plan{
				SetLabels:     map[string]string{"env": "dev", nodesv1.MemberLabel("gpu"): ""},
				Taints:        []corev1.Taint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}},
				TaintsChanged: true,
				Record:        `{"gpu":{"labels":["env","` + nodesv1.MemberLabel("gpu") + `"],"taints":["gpu:NoSchedule"]}}`,
				RecordChanged: true,
				Pending:       []string{"gpu"},
			},
		},
		"a key that the ledger does not hold yet is waited for": {
			node: node(role("gpu"), carries(pool("gpu"))),
			pool: pools(pool("gpu", withLabel("env", "dev"), ledgerOf(pool("gpu")))),
			want: Plan{Pending: []string{"gpu"}},
		},
		"a pool without a finalizer is waited for": {
			node: node(role("gpu")),
			pool: pools(pool("gpu", withoutFinalizer)),
			want: Plan{Pending: []string{"gpu"}},
		},
		"a foreign label of another value is a conflict and stays": {
			node: node(role("gpu"), label("env", "prod"), carries(pool("gpu"))),
			pool: pools(pool("gpu", withLabel("env", "dev"))),
			want: Plan{Conflicts: []Conflict{{Pool: "gpu", Key: "label env"}}},
		},
		"a foreign label of the wanted value is as wanted and not claimed": {
			node: node(role("gpu"), label("env", "dev"), carries(pool("gpu"))),
			pool: pools(pool("gpu", withLabel("env", "dev"))),
		},
		"a foreign taint of another value is a conflict and stays": {
			node: node(role("gpu"), taint("x", "theirs", corev1.TaintEffectNoSchedule), carries(pool("gpu"))),
			pool: pools(pool("gpu", withTaint("x", "ours", corev1.TaintEffectNoSchedule))),
			want: Plan{Conflicts: []Conflict{{Pool: "gpu", Key: "taint x:NoSchedule"}}},
		},
		"of two pools that want one label the older wins, whatever its name": {
			node: node(role("young-a"), role("old-b"), carries(pool("young-a"), pool("old-b", withLabel("env", "b")))),
			pool: pools(pool("young-a", withLabel("env", "a"), age(time.Hour)), pool("old-b", withLabel("env", "b"), age(2*time.Hour))),
			want: Plan{Conflicts: []Conflict{{Pool: "young-a", Key: "label env", Holder: "old-b"}}},
		},
		"the loser gets the key when the winner leaves": {
			node: node(role("a"), carries(pool("a"), pool("b", withLabel("env", "b")))),
			pool: pools(pool("a", withLabel("env", "a")), pool("b", withLabel("env", "b"))),
			want: Plan{
				SetLabels:     map[string]string{"env": "a"},
				RemoveLabels:  []string{nodesv1.MemberLabel("b")},
				Record:        `{"a":{"labels":["env","` + nodesv1.MemberLabel("a") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"a", "b"},
				Leaving:       []string{"b"},
			},
		},
		"a node that left is cleaned, foreign keys stay": {
			node: node(label("a", "b"), taint("x", "y", corev1.TaintEffectNoSchedule), carries(full("gpu"))),
			pool: pools(full("gpu")),
			want: Plan{
				RemoveLabels:  []string{"env", nodesv1.MemberLabel("gpu")},
				Taints:        []corev1.Taint{{Key: "x", Value: "y", Effect: corev1.TaintEffectNoSchedule}},
				TaintsChanged: true, RecordChanged: true,
				Pending: []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"a pool that is being deleted cleans its members": {
			node: node(role("gpu"), carries(full("gpu"))),
			pool: pools(full("gpu", deleting)),
			want: Plan{
				RemoveLabels:  []string{"env", nodesv1.MemberLabel("gpu")},
				TaintsChanged: true, RecordChanged: true,
				Pending: []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"a key that another pool wants as well stays": {
			node: node(role("b"), carries(pool("a", withLabel("env", "x")), pool("b", withLabel("env", "x")))),
			pool: pools(pool("a", withLabel("env", "x")), pool("b", withLabel("env", "x"))),
			want: Plan{
				RemoveLabels:  []string{nodesv1.MemberLabel("a")},
				Record:        `{"b":{"labels":["env","` + nodesv1.MemberLabel("b") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"a"},
				Leaving:       []string{"a"},
			},
		},
		"a forged record removes nothing that the ledger does not confirm": {
			node: node(
				taint("protect", "", corev1.TaintEffectNoSchedule),
				record(`{"gpu":{"labels":["team"],"taints":["protect:NoSchedule"]}}`), label("team", "a"),
			),
			pool: pools(full("gpu")),
			want: Plan{RecordChanged: true, Abandoned: []string{"gpu"}, Pending: []string{"gpu"}, Leaving: []string{"gpu"}},
		},
		"a record of a pool that does not exist is dropped and its keys stay": {
			node: node(label("env", "dev"), record(`{"gone":{"labels":["env"]}}`)),
			want: Plan{RecordChanged: true, Abandoned: []string{"gone"}},
		},
		"a lost record is written again": {
			node: node(role("gpu"), carries(full("gpu")), withoutRecord),
			pool: pools(full("gpu")),
			want: Plan{
				Record:        `{"gpu":{"labels":["env","` + nodesv1.MemberLabel("gpu") + `"],"taints":["gpu:NoSchedule"]}}`,
				RecordChanged: true,
			},
		},
		"a changed label is drift once the pool was synced": {
			node: node(role("gpu"), carries(full("gpu")), label("env", "changed")),
			pool: pools(full("gpu", synced)),
			want: Plan{
				SetLabels: map[string]string{"env": "dev"}, Pending: []string{"gpu"}, Drift: []string{"label env"},
			},
		},
		"a changed spec is no drift": {
			node: node(role("gpu"), carries(full("gpu"))),
			pool: pools(full("gpu", synced, withLabel("env", "new"), generation(2))),
			want: Plan{SetLabels: map[string]string{"env": "new"}, Pending: []string{"gpu"}},
		},
		"a paused pool changes nothing and loses nothing": {
			node: node(carries(full("gpu")), label("env", "changed")),
			pool: pools(full("gpu", paused)),
		},
		"a pool whose finalizer somebody removed changes nothing and loses nothing": {
			node: node(role("gpu"), carries(full("gpu")), label("env", "changed")),
			pool: pools(full("gpu", withoutFinalizer)),
			want: Plan{Pending: []string{"gpu"}},
		},
		"a taint keeps its old value until the ledger allows the new one": {
			node: node(role("gpu"), carries(full("gpu"))),
			pool: pools(full("gpu", withTaint("gpu", "new", corev1.TaintEffectNoSchedule), ledgerOf(full("gpu")))),
			want: Plan{Pending: []string{"gpu"}},
		},
		"a node that the selector picks gets the role label": {
			node: node(label("zone", "a")),
			pool: pools(pool("gpu", selects("zone", "a"))),
			want: Plan{
				SetLabels:     map[string]string{nodesv1.RoleLabel("gpu"): "", nodesv1.MemberLabel("gpu"): ""},
				Record:        `{"gpu":{"labels":["` + nodesv1.RoleLabel("gpu") + `","` + nodesv1.MemberLabel("gpu") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"gpu"},
			},
		},
		"a node that the selector no longer picks loses the role label": {
			node: node(label(nodesv1.RoleLabel("gpu"), ""), label(nodesv1.MemberLabel("gpu"), ""), record(
				`{"gpu":{"labels":["`+nodesv1.RoleLabel("gpu")+`","`+nodesv1.MemberLabel("gpu")+`"]}}`)),
			pool: pools(pool("gpu", selects("zone", "a"))),
			want: Plan{
				RemoveLabels:  []string{nodesv1.RoleLabel("gpu"), nodesv1.MemberLabel("gpu")},
				RecordChanged: true,
				Pending:       []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"a role label that the user set on a picked node is the user's": {
			node: node(role("gpu"), label("zone", "a"), carries(pool("gpu"))),
			pool: pools(pool("gpu", selects("zone", "a"))),
		},
		"a pool does not pick a node by its own label": {
			node: node(carries(pool("gpu", withLabel("zone", "a")))),
			pool: pools(pool("gpu", withLabel("zone", "a"), selects("zone", "a"))),
			want: Plan{
				RemoveLabels:  []string{nodesv1.MemberLabel("gpu"), "zone"},
				RecordChanged: true,
				Pending:       []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"an empty selector picks nothing": {
			node: node(label("zone", "a")),
			pool: pools(pool("gpu", func(p *nodesv1.NodePool) { p.Spec.NodeSelector = &metav1.LabelSelector{} })),
		},
		"a node whose InternalIP lies in a segment is picked, another one is not": {
			node: node(address("10.20.3.4")),
			pool: pools(pool("in", segment("10.20.0.0/16")), pool("out", segment("10.30.0.0/16"))),
			want: Plan{
				SetLabels:     map[string]string{nodesv1.RoleLabel("in"): "", nodesv1.MemberLabel("in"): ""},
				Record:        `{"in":{"labels":["` + nodesv1.RoleLabel("in") + `","` + nodesv1.MemberLabel("in") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"in"},
			},
		},
		"the higher priority wins against the older pool": {
			node: node(role("old"), role("high"), carries(pool("old"), pool("high", withLabel("env", "high")))),
			pool: pools(
				pool("old", withLabel("env", "old"), age(time.Hour)),
				pool("high", withLabel("env", "high"), func(p *nodesv1.NodePool) { p.Spec.Priority = 1 }),
			),
			want: Plan{Conflicts: []Conflict{{Pool: "old", Key: "label env", Holder: "high"}}},
		},
		"under Restore a foreign value is noted before it is replaced": {
			node: node(role("gpu"), label("env", "prod"), carries(pool("gpu"))),
			pool: pools(pool("gpu", withLabel("env", "dev"), overwrite(nodesv1.OverwriteRestore))),
			want: Plan{
				Originals: []Original{{Pool: "gpu", Key: Key{onLabels, "env"}, Value: "prod"}},
				Pending:   []string{"gpu"},
			},
		},
		"under Restore a noted value is replaced": {
			node: node(role("gpu"), label("env", "prod"), carries(pool("gpu"))),
			pool: pools(pool("gpu", withLabel("env", "dev"), overwrite(nodesv1.OverwriteRestore), noted("env", "prod"))),
			want: Plan{
				SetLabels:     map[string]string{"env": "dev"},
				Record:        `{"gpu":{"labels":["env","` + nodesv1.MemberLabel("gpu") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"gpu"},
			},
		},
		"under Restore a noted value is put back when the node leaves": {
			node: node(carries(pool("gpu", withLabel("env", "dev")))),
			pool: pools(pool("gpu", withLabel("env", "dev"), overwrite(nodesv1.OverwriteRestore), noted("env", "prod"))),
			want: Plan{
				SetLabels:     map[string]string{"env": "prod"},
				RemoveLabels:  []string{nodesv1.MemberLabel("gpu")},
				RecordChanged: true,
				Pending:       []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"under Always a foreign value is replaced at once": {
			node: node(role("gpu"), label("env", "prod"), carries(pool("gpu"))),
			pool: pools(pool("gpu", withLabel("env", "dev"), overwrite(nodesv1.OverwriteAlways))),
			want: Plan{
				SetLabels:     map[string]string{"env": "dev"},
				Record:        `{"gpu":{"labels":["env","` + nodesv1.MemberLabel("gpu") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"gpu"},
			},
		},
		"a pool that is deleted as Orphan leaves everything but the membership": {
			node: node(role("gpu"), carries(full("gpu"))),
			pool: pools(full("gpu", deleting, func(p *nodesv1.NodePool) { p.Spec.DeletionPolicy = nodesv1.DeletionOrphan })),
			want: Plan{
				RemoveLabels:  []string{nodesv1.MemberLabel("gpu")},
				RecordChanged: true,
				Pending:       []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"a pool in dry run changes nothing": {
			node: node(role("gpu")),
			pool: pools(full("gpu", func(p *nodesv1.NodePool) { p.Spec.DryRun = true })),
			want: Plan{Pending: []string{"gpu"}},
		},
		"annotations are put on members under the same rules": {
			node: node(role("gpu"), carries(pool("gpu"))),
			pool: pools(pool("gpu", func(p *nodesv1.NodePool) {
				p.Spec.Annotations = map[string]nodesv1.AnnotationValue{"team": "a"}
				p.Status.Ledger = Wanted(p)
			})),
			want: Plan{
				SetAnnotations: map[string]string{"team": "a"},
				Record:         `{"gpu":{"labels":["` + nodesv1.MemberLabel("gpu") + `"],"annotations":["team"]}}`,
				RecordChanged:  true,
				Pending:        []string{"gpu"},
			},
		},
		"a taint that differs only in the time it was added is no change": {
			node: node(role("gpu"), carries(full("gpu")), func(n *corev1.Node) {
				now := metav1.Now()
				n.Spec.Taints[0].TimeAdded = &now
			}),
			pool: pools(full("gpu")),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := NewPlan(tc.node, byName(tc.pool))
			ignore := cmpopts.IgnoreFields(Plan{}, "Record", "Taints", "Kept", "Members", "Carrying", "Early")
			if tc.want.RecordChanged {
				ignore = cmpopts.IgnoreFields(Plan{}, "Taints", "Kept", "Members", "Carrying", "Early")
			}
			if diff := cmp.Diff(&tc.want, got, cmpopts.EquateEmpty(), ignore, cmp.AllowUnexported(Key{})); diff != "" {
				t.Errorf("plan differs (-want +got):\n%s", diff)
			}
			if tc.want.TaintsChanged {
				if diff := cmp.Diff(tc.want.Taints, got.Taints, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("taints differ (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestLeaversAreKeptUntilTheyAreCounted(t *testing.T) {
	t.Parallel()
	all, counted := byName(pools(full("gpu"))), false
	mayLeave := func(string) bool { return counted }
	leaver := node(carries(full("gpu")))
	if plan := NewClearedPlan(leaver, all, mayLeave); !plan.Empty() || !slices.Equal(plan.Leaving, []string{"gpu"}) {
		t.Errorf("plan for a leaver is %+v", plan)
	}
	member := node(role("gpu"))
	if plan := NewClearedPlan(member, all, mayLeave); plan.Empty() {
		t.Error("a node that joins is kept out")
	}
	counted = true
	if plan := NewClearedPlan(leaver, all, mayLeave); plan.Empty() {
		t.Error("a leaver that was counted is kept in")
	}
}

func TestPreviewShowsWhatADryRunWouldDo(t *testing.T) {
	t.Parallel()
	all := byName(pools(full("gpu", overwrite(nodesv1.OverwriteRestore), func(p *nodesv1.NodePool) { p.Spec.DryRun = true })))
	plan := Preview(node(role("gpu"), label("env", "prod")), all, "gpu")
	if plan.SetLabels["env"] != "dev" || !plan.TaintsChanged {
		t.Errorf("preview is %+v", plan)
	}
	if len(all["gpu"].Status.Originals) != 0 || !all["gpu"].Spec.DryRun {
		t.Error("the preview changed the pool")
	}
}

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
			closed := random.IntN(4) == 0
			if closed { // as a kubelet that registers anew
				taint(nodesv1.UninitializedTaint, "", corev1.TaintEffectNoSchedule)(current)
			}
			settle(t, seed, random, current, all)
			if isMember := len(NewPlan(current, prepared(all)).Members) > 0; closed && isClosed(current) == isMember {
				t.Fatalf("seed %d: a settled node in a pool: %t, and closed: %t", seed, isMember, isClosed(current))
			}
			open(current)
			if plan := NewPlan(current, prepared(all)); len(plan.Pending) > 0 {
				t.Fatalf("seed %d: a settled node is pending for %v", seed, plan.Pending)
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
			closed, plan := isClosed(node), NewPlan(node, prepared(all))
			apply(t, node, plan)
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

// keepPool does what the pool controller does to the pool's status: note originals, grow and shrink the ledger.
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
		pool.Status.Ledger = Union(pool.Status.Ledger, Wanted(pool))
		if !behind && !slices.Contains(plan.Pending, name) {
			pool.Status.Ledger = Wanted(pool)
		}
	}
}

// drainOne takes the drain of the node one step further.
func drainOne(node *corev1.Node, pool *nodesv1.NodePool, plan *Plan) {
	_, selectable := node.Labels[nodesv1.MemberLabel(pool.Name)]
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
		if all[name].Spec.Rollout != nil && Behind(node, prepared(all), name) {
			return false
		}
	}
	plan := NewPlan(node, prepared(all))
	return plan.Empty() && len(plan.Originals)+len(plan.Pending) == 0 && !slices.ContainsFunc(statuses(all), moves)
}

// moves reports whether a turn has not been taken back or a drain has not come to its end.
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
		all[name].Spec.Rollout, all[name].Spec.Drain = nil, nil
		if random.IntN(3) == 0 {
			all[name].Spec.Rollout = &nodesv1.Rollout{MaxConcurrent: intstr.FromInt32(1)}
		}
		if random.IntN(3) == 0 {
			all[name].Spec.Drain = &nodesv1.Drain{Policy: nodesv1.DrainEvict}
		}
	}
}

func randomNode(random *rand.Rand) *corev1.Node {
	n := node()
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
		all[name] = pool(name, age(time.Duration(random.IntN(3))*time.Hour), func(p *nodesv1.NodePool) {
			p.Spec.Priority = int32(random.IntN(2))
			p.Spec.Overwrite = []nodesv1.OverwritePolicy{nodesv1.OverwriteNever, nodesv1.OverwriteRestore}[random.IntN(2)]
		})
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

// apply does to the node what the API server would do with the plan's patch.
func apply(t *testing.T, node *corev1.Node, plan *Plan) {
	t.Helper()
	patch, err := plan.MergePatch(node)
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(node)
	if err != nil {
		t.Fatal(err)
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		t.Fatal(err)
	}
	*node = corev1.Node{}
	if err := json.Unmarshal(after, node); err != nil {
		t.Fatal(err)
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
}

// FuzzParseRecord feeds the record what a kubelet may write into its node's annotation.
func FuzzParseRecord(f *testing.F) {
	f.Add(`{"gpu":{"labels":["a"],"taints":["b:NoSchedule"]}}`)
	f.Add(`[]`)
	f.Add(`{"":{"taints":[":"]}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		n := node(record(raw), role("gpu"))
		plan := NewPlan(n, byName(pools(full("gpu"))))
		if _, err := plan.MergePatch(n); err != nil {
			t.Fatal(err)
		}
	})
}

type (
	nodeOption func(*corev1.Node)
	poolOption func(*nodesv1.NodePool)
)

func node(options ...nodeOption) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", UID: "uid", Labels: map[string]string{}}}
	for _, option := range options {
		option(n)
	}
	return n
}

func role(pool string) nodeOption { return label(nodesv1.RoleLabel(pool), "true") }

func label(key, value string) nodeOption { return func(n *corev1.Node) { n.Labels[key] = value } }

func taint(key, value string, effect corev1.TaintEffect) nodeOption {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
}

func record(raw string) nodeOption {
	return func(n *corev1.Node) { n.Annotations = map[string]string{nodesv1.AppliedAnnotation: raw} }
}

func withoutRecord(n *corev1.Node) { n.Annotations = nil }

// carries puts on the node what the pools would have put there.
func carries(list ...*nodesv1.NodePool) nodeOption {
	return func(n *corev1.Node) {
		applied := Record{}
		for _, pool := range list {
			label(nodesv1.MemberLabel(pool.Name), "")(n)
			applied.add(pool.Name, onLabels, nodesv1.MemberLabel(pool.Name))
			for key, value := range pool.Spec.Labels {
				label(key, string(value))(n)
				applied.add(pool.Name, onLabels, key)
			}
			for _, t := range pool.Spec.Taints {
				taint(t.Key, t.Value, t.Effect)(n)
				applied.add(pool.Name, onTaints, taintID(t.Key, t.Effect))
			}
		}
		record(applied.String())(n)
	}
}

func pools(list ...*nodesv1.NodePool) []*nodesv1.NodePool { return list }

func byName(list []*nodesv1.NodePool) Pools {
	all := Pools{}
	for _, pool := range list {
		all[pool.Name], _ = NewPool(pool)
	}
	return all
}

// pool returns a pool that is ready to be applied: with finalizer, and with everything it wants in its ledger.
func pool(name string, options ...poolOption) *nodesv1.NodePool {
	p := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{
		Name: name, Generation: 1, Finalizers: []string{nodesv1.Finalizer},
	}}
	p.Status.Ledger = Wanted(p)
	for _, option := range options {
		option(p)
	}
	return p
}

// full is a pool with a label env=dev and a taint gpu=yes:NoSchedule.
func full(name string, options ...poolOption) *nodesv1.NodePool {
	return pool(name, append([]poolOption{
		withLabel("env", "dev"), withTaint("gpu", "yes", corev1.TaintEffectNoSchedule),
	}, options...)...)
}

func withLabel(key, value string) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.Labels = map[string]nodesv1.LabelValue{key: nodesv1.LabelValue(value)}
		p.Status.Ledger = Union(p.Status.Ledger, Wanted(p))
	}
}

func withTaint(key, value string, effect corev1.TaintEffect) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.Taints = []nodesv1.Taint{{Key: key, Value: value, Effect: effect}}
		p.Status.Ledger = Union(p.Status.Ledger, Wanted(p))
	}
}

func selects(key, value string) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
		p.Status.Ledger = Union(p.Status.Ledger, Wanted(p))
	}
}

func segment(cidr nodesv1.CIDR) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.NodeCIDRs = []nodesv1.CIDR{cidr}
		p.Status.Ledger = Union(p.Status.Ledger, Wanted(p))
	}
}

func address(ip string) nodeOption {
	return func(n *corev1.Node) {
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}}
	}
}

func overwrite(policy nodesv1.OverwritePolicy) poolOption {
	return func(p *nodesv1.NodePool) { p.Spec.Overwrite = policy }
}

func noted(key, value string) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Status.Originals = Remember(nil, node(), Original{Key: Key{onLabels, key}, Value: value})
	}
}

func age(d time.Duration) poolOption {
	return func(p *nodesv1.NodePool) {
		p.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-d))
	}
}

func ledgerOf(other *nodesv1.NodePool) poolOption {
	return func(p *nodesv1.NodePool) { p.Status.Ledger = other.Status.Ledger }
}

func generation(n int64) poolOption { return func(p *nodesv1.NodePool) { p.Generation = n } }

func withoutFinalizer(p *nodesv1.NodePool) { p.Finalizers = nil }

func deleting(p *nodesv1.NodePool) {
	now := metav1.Now()
	p.DeletionTimestamp = &now
}

func paused(p *nodesv1.NodePool) { p.Annotations = map[string]string{status.PausedAnnotation: "true"} }

func synced(p *nodesv1.NodePool) {
	p.Status.Conditions = []metav1.Condition{{
		Type: nodesv1.ConditionNodesSynced, Status: metav1.ConditionTrue, ObservedGeneration: p.Generation,
	}}
}
