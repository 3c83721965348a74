// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// planCase is a node in some pools, and the plan for it.
type planCase struct {
	node *corev1.Node
	pool []*nodesv1.NodePool
	want Plan
}

// checkPlans compares whole plans, but for what other tests look at, and for the record and the taints where they do not change.
func checkPlans(t *testing.T, cases map[string]planCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := NewPlan(tc.node, byName(tc.pool))
			if !got.RecordChanged {
				got.Record = ""
			}
			if !got.TaintsChanged {
				got.Taints = nil
			}
			ignore := cmpopts.IgnoreFields(Plan{}, "Kept", "Members", "Carrying", "Early")
			if diff := cmp.Diff(&tc.want, got, cmpopts.EquateEmpty(), ignore, cmp.AllowUnexported(Key{})); diff != "" {
				t.Errorf("plan differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNodeThatJoins holds what a node gets that joins, and what it has to wait for.
func TestNodeThatJoins(t *testing.T) {
	t.Parallel()
	checkPlans(t, map[string]planCase{
		"a node of no pool is left alone": {
			node: node().Label("a", "b").Taint("x", "y", corev1.TaintEffectNoSchedule).Obj(),
			pool: pools(pool("gpu").Label("env", "dev")),
		},
		"a role that is no pool is left alone": {
			node: node().Role("control-plane").Obj(),
			pool: pools(pool("gpu")),
		},
		"a member gets labels, taints, the member label and a record": {
			node: node().Role("gpu").Label("a", "b").Obj(),
			pool: pools(pool("gpu").Label("env", "dev").Taint("gpu", "yes", corev1.TaintEffectNoSchedule)),
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
			node: node().Role("gpu").With(carries(pool("gpu"))).Obj(),
			pool: pools(pool("gpu").Label("env", "dev").With(ledgerOf(pool("gpu")))),
			want: Plan{Pending: []string{"gpu"}},
		},
		"a pool without a finalizer is waited for": {
			node: node().Role("gpu").Obj(),
			pool: pools(pool("gpu").With(withoutFinalizer)),
			want: Plan{Pending: []string{"gpu"}},
		},
		"annotations are put on members under the same rules": {
			node: node().Role("gpu").With(carries(pool("gpu"))).Obj(),
			pool: pools(annotated(pool("gpu"))),
			want: Plan{
				SetAnnotations: map[string]string{"team": "a"},
				Record:         `{"gpu":{"labels":["` + nodesv1.MemberLabel("gpu") + `"],"annotations":["team"]}}`,
				RecordChanged:  true,
				Pending:        []string{"gpu"},
			},
		},
	})
}

// TestNodeThatLeaves holds what is taken off a node that leaves, and what stays.
func TestNodeThatLeaves(t *testing.T) {
	t.Parallel()
	checkPlans(t, map[string]planCase{
		"a node that left is cleaned, foreign keys stay": {
			node: node().Label("a", "b").Taint("x", "y", corev1.TaintEffectNoSchedule).With(carries(full("gpu"))).Obj(),
			pool: pools(full("gpu")),
			want: Plan{
				RemoveLabels:  []string{"env", nodesv1.MemberLabel("gpu")},
				Taints:        []corev1.Taint{{Key: "x", Value: "y", Effect: corev1.TaintEffectNoSchedule}},
				TaintsChanged: true, RecordChanged: true,
				Pending: []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"a pool that is being deleted cleans its members": {
			node: node().Role("gpu").With(carries(full("gpu"))).Obj(),
			pool: pools(full("gpu").With(deleting)),
			want: Plan{
				RemoveLabels:  []string{"env", nodesv1.MemberLabel("gpu")},
				TaintsChanged: true, RecordChanged: true,
				Pending: []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"a key that another pool wants as well stays": {
			node: node().Role("b").With(carries(pool("a").Label("env", "x"), pool("b").Label("env", "x"))).Obj(),
			pool: pools(pool("a").Label("env", "x"), pool("b").Label("env", "x")),
			want: Plan{
				RemoveLabels:  []string{nodesv1.MemberLabel("a")},
				Record:        `{"b":{"labels":["env","` + nodesv1.MemberLabel("b") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"a"},
				Leaving:       []string{"a"},
			},
		},
		"the loser gets the key when the winner leaves": {
			node: node().Role("a").With(carries(pool("a"), pool("b").Label("env", "b"))).Obj(),
			pool: pools(pool("a").Label("env", "a"), pool("b").Label("env", "b")),
			want: Plan{
				SetLabels:     map[string]string{"env": "a"},
				RemoveLabels:  []string{nodesv1.MemberLabel("b")},
				Record:        `{"a":{"labels":["env","` + nodesv1.MemberLabel("a") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"a", "b"},
				Leaving:       []string{"b"},
			},
		},
		"a pool that is deleted as Orphan leaves everything but the membership": {
			node: node().Role("gpu").With(carries(full("gpu"))).Obj(),
			pool: pools(full("gpu").With(deleting).With(func(p *nodesv1.NodePool) { p.Spec.DeletionPolicy = nodesv1.DeletionOrphan })),
			want: Plan{
				RemoveLabels:  []string{nodesv1.MemberLabel("gpu")},
				RecordChanged: true,
				Pending:       []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
	})
}

// TestAPoolThatWaitedGetsItsKeysBackIntoALostRecord: another pool was written into the record meanwhile, and nobody took the keys of the first one off
// the node when it left.
func TestAPoolThatWaitedGetsItsKeysBackIntoALostRecord(t *testing.T) {
	t.Parallel()
	first, second := pool("first").Label("env", "dev").Taint("dedicated", "first", corev1.TaintEffectNoSchedule), pool("second").Label("tier", "gold")
	for name, rest := range map[string]func(*corev1.Node){
		"the record is lost":                 withoutRecord,
		"only the second pool is written in": carries(second),
		"the record has no pool that exists": func(n *corev1.Node) {
			n.Annotations = map[string]string{nodesv1.AppliedAnnotation: `{"gone":{"labels":["env"]}}`}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := node().Role("first").Role("second").With(carries(first, second), withoutRecord, rest).Obj()
			plan := NewPlan(on, byName(pools(first, second)))
			got := ParseRecord(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{nodesv1.AppliedAnnotation: plan.Record}}})
			want := ParseRecord(node().With(carries(first, second)).Obj())
			if diff := cmp.Diff(want["first"], got["first"], cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("the record differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNodeWithoutItsRecordLeavesAsAnyOther: it used to lose its member label before anybody had counted it, or the pods on it.
func TestNodeWithoutItsRecordLeavesAsAnyOther(t *testing.T) {
	t.Parallel()
	member, byAddress := nodesv1.MemberLabel("gpu"), nodesv1.AddressLabel("gpu")
	shed := func(n *corev1.Node) {
		n.Annotations = map[string]string{nodesv1.AppliedAnnotation: `{"gpu":{"labels":["env"]}}`}
	}
	cases := map[string]struct {
		node     *corev1.Node
		pool     *build.PoolBuilder
		mayLeave bool
		want     Plan
	}{
		"it waits until it may leave": {
			node: node().With(carries(full("gpu")), withoutRecord).Obj(), pool: full("gpu"), want: Plan{Pending: []string{"gpu"}, Leaving: []string{"gpu"}},
		},
		"it waits as a member of a pool that is being deleted": {
			node: node().Role("gpu").With(carries(full("gpu")), withoutRecord).Obj(), pool: full("gpu").With(deleting),
			want: Plan{Pending: []string{"gpu"}, Leaving: []string{"gpu"}},
		},
		"it waits where only the member label is not in the record": {
			node: node().With(carries(full("gpu")), shed).Obj(), pool: full("gpu"), want: Plan{Pending: []string{"gpu"}, Leaving: []string{"gpu"}},
		},
		"it loses the member label when it may": {
			node: node().With(carries(full("gpu")), withoutRecord).Obj(), pool: full("gpu"), mayLeave: true,
			want: Plan{RemoveLabels: []string{member}, Pending: []string{"gpu"}, Leaving: []string{"gpu"}},
		},
		"it loses the member label when it is drained": {
			node: node().With(carries(full("gpu")), withoutRecord).Obj(), pool: full("gpu").With(func(p *nodesv1.NodePool) {
				p.Status.Draining = []nodesv1.DrainingNode{{Node: "node", UID: "uid"}}
			}),
			want: Plan{RemoveLabels: []string{member}, Pending: []string{"gpu"}, Leaving: []string{"gpu"}},
		},
		"nobody waits for a label that the pool cannot take off": {
			node: node().Label(byAddress, "").Obj(), pool: full("gpu"), mayLeave: true, want: Plan{Abandoned: []string{"gpu"}},
		},
		"a pool that is being deleted takes it off": {
			node: node().Label(byAddress, "").Obj(), pool: full("gpu").With(deleting), mayLeave: true,
			want: Plan{RemoveLabels: []string{byAddress}, Pending: []string{"gpu"}, Leaving: []string{"gpu"}},
		},
		"once it may": {
			node: node().Label(byAddress, "").Obj(), pool: full("gpu").With(deleting), want: Plan{Pending: []string{"gpu"}, Leaving: []string{"gpu"}},
		},
		"but no label of another pool": {
			node: node().Label(byAddress, "").Annotation(nodesv1.AppliedAnnotation, `{"other":{"labels":["`+byAddress+`"]}}`).Obj(), pool: full("other").With(deleting),
			mayLeave: true, want: Plan{RecordChanged: true, Abandoned: []string{"other"}, Pending: []string{"other"}, Claimed: []string{"other"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := NewClearedPlan(tc.node, byName(pools(tc.pool)), func(string) bool { return tc.mayLeave })
			ignore := cmpopts.IgnoreFields(Plan{}, "Kept", "Members", "Carrying", "Record", "Taints")
			if diff := cmp.Diff(&tc.want, got, cmpopts.EquateEmpty(), ignore); diff != "" {
				t.Errorf("plan differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKeyThatTwoWant holds who has a key that more than one owner wants.
func TestKeyThatTwoWant(t *testing.T) {
	t.Parallel()
	checkPlans(t, map[string]planCase{
		"a foreign label of another value is a conflict and stays": {
			node: node().Role("gpu").Label("env", "prod").With(carries(pool("gpu"))).Obj(),
			pool: pools(pool("gpu").Label("env", "dev")),
			want: Plan{Conflicts: []Conflict{{Pool: "gpu", Key: "label env"}}},
		},
		"a foreign label of the wanted value is as wanted and not claimed": {
			node: node().Role("gpu").Label("env", "dev").With(carries(pool("gpu"))).Obj(),
			pool: pools(pool("gpu").Label("env", "dev")),
		},
		"a foreign taint of another value is a conflict and stays": {
			node: node().Role("gpu").Taint("x", "theirs", corev1.TaintEffectNoSchedule).With(carries(pool("gpu"))).Obj(),
			pool: pools(pool("gpu").Taint("x", "ours", corev1.TaintEffectNoSchedule)),
			want: Plan{Conflicts: []Conflict{{Pool: "gpu", Key: "taint x:NoSchedule"}}},
		},
		"of two pools that want one label the older wins, whatever its name": {
			node: node().Role("young-a").Role("old-b").With(carries(pool("young-a"), pool("old-b").Label("env", "b"))).Obj(),
			pool: pools(pool("young-a").Label("env", "a").With(age(time.Hour)), pool("old-b").Label("env", "b").With(age(2*time.Hour))),
			want: Plan{Conflicts: []Conflict{{Pool: "young-a", Key: "label env", Holder: "old-b"}}},
		},
		"the higher priority wins against the older pool": {
			node: node().Role("old").Role("high").With(carries(pool("old"), pool("high").Label("env", "high"))).Obj(),
			pool: pools(
				pool("old").Label("env", "old").With(age(time.Hour)),
				pool("high").Label("env", "high").Priority(1),
			),
			want: Plan{Conflicts: []Conflict{{Pool: "old", Key: "label env", Holder: "high"}}},
		},
	})
}

// TestOverwrite holds what the overwrite policy says about a key of another owner.
func TestOverwrite(t *testing.T) {
	t.Parallel()
	checkPlans(t, map[string]planCase{
		"under Restore a foreign value is noted before it is replaced": {
			node: node().Role("gpu").Label("env", "prod").With(carries(pool("gpu"))).Obj(),
			pool: pools(pool("gpu").Label("env", "dev").Overwrite(nodesv1.OverwriteRestore)),
			want: Plan{
				Originals: []Original{{Pool: "gpu", Key: Key{onLabels, "env"}, Value: "prod"}},
				Pending:   []string{"gpu"},
			},
		},
		"under Restore an annotation of which caches have only the beginning is a conflict and stays": {
			node: node().Role("gpu").With(carries(pool("gpu"))).Annotation("team", strings.Repeat("x", 1025)).Obj(),
			pool: pools(annotated(pool("gpu")).Overwrite(nodesv1.OverwriteRestore)),
			want: Plan{Conflicts: []Conflict{{Pool: "gpu", Key: "annotation team"}}},
		},
		"under Restore an annotation as long as a pool's is noted, whatever its characters": {
			node: node().Role("gpu").With(carries(pool("gpu"))).Annotation("team", strings.Repeat("世", 1024)).Obj(),
			pool: pools(annotated(pool("gpu")).Overwrite(nodesv1.OverwriteRestore)),
			want: Plan{
				Originals: []Original{{Pool: "gpu", Key: Key{onAnnotations, "team"}, Value: strings.Repeat("世", 1024)}},
				Pending:   []string{"gpu"},
			},
		},
		"under Restore a value for which the status has no room is a conflict and stays": {
			node: node().Role("gpu").With(carries(pool("gpu"))).Annotation("team", strings.Repeat("<", 1024)).Obj(),
			pool: pools(annotated(pool("gpu")).Overwrite(nodesv1.OverwriteRestore).With(crowded)),
			want: Plan{Conflicts: []Conflict{{Pool: "gpu", Key: "annotation team"}}},
		},
		"a pool leaves its key to one that has no room for the original": {
			node: node().Role("b").With(carries(pool("a"), pool("b"))).Annotation("team", "a").Annotation(nodesv1.AppliedAnnotation,
				`{"a":{"labels":["`+nodesv1.MemberLabel("a")+`"],"annotations":["team"]},"b":{"labels":["`+nodesv1.MemberLabel("b")+`"],"annotations":["team"]}}`).Obj(),
			pool: pools(annotated(pool("a")).With(deleting, longNote), annotated(pool("b")).With(crowded)),
			want: Plan{
				RemoveLabels:  []string{nodesv1.MemberLabel("a")},
				Record:        `{"b":{"labels":["` + nodesv1.MemberLabel("b") + `"],"annotations":["team"]}}`,
				RecordChanged: true,
				Pending:       []string{"a"}, Leaving: []string{"a"},
			},
		},
		"under Always a foreign value as wanted is the pool's from then on": {
			node: node().Role("gpu").Label("env", "dev").With(carries(pool("gpu"))).Obj(),
			pool: pools(pool("gpu").Label("env", "dev").Overwrite(nodesv1.OverwriteAlways)),
			want: Plan{
				Record:        `{"gpu":{"labels":["env","` + nodesv1.MemberLabel("gpu") + `"]}}`,
				RecordChanged: true,
			},
		},
		"under Restore a noted value is replaced": {
			node: node().Role("gpu").Label("env", "prod").With(carries(pool("gpu"))).Obj(),
			pool: pools(pool("gpu").Label("env", "dev").Overwrite(nodesv1.OverwriteRestore).With(noted("env", "prod"))),
			want: Plan{
				SetLabels:     map[string]string{"env": "dev"},
				Record:        `{"gpu":{"labels":["env","` + nodesv1.MemberLabel("gpu") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"gpu"},
			},
		},
		"under Restore a noted value is put back when the node leaves": {
			node: node().With(carries(pool("gpu").Label("env", "dev"))).Obj(),
			pool: pools(pool("gpu").Label("env", "dev").Overwrite(nodesv1.OverwriteRestore).With(noted("env", "prod"))),
			want: Plan{
				SetLabels:     map[string]string{"env": "prod"},
				RemoveLabels:  []string{nodesv1.MemberLabel("gpu")},
				RecordChanged: true,
				Pending:       []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"under Always a foreign value is replaced at once": {
			node: node().Role("gpu").Label("env", "prod").With(carries(pool("gpu"))).Obj(),
			pool: pools(pool("gpu").Label("env", "dev").Overwrite(nodesv1.OverwriteAlways)),
			want: Plan{
				SetLabels:     map[string]string{"env": "dev"},
				Record:        `{"gpu":{"labels":["env","` + nodesv1.MemberLabel("gpu") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"gpu"},
			},
		},
	})
}

// TestNodeThatIsSelected holds how a pool takes nodes by selector and by segment.
func TestNodeThatIsSelected(t *testing.T) {
	t.Parallel()
	checkPlans(t, map[string]planCase{
		"a node that the selector matches gets the role label": {
			node: node().Label("zone", "a").Obj(),
			pool: pools(pool("gpu").Selects("zone", "a")),
			want: Plan{
				SetLabels:     map[string]string{nodesv1.RoleLabel("gpu"): "", nodesv1.MemberLabel("gpu"): ""},
				Record:        `{"gpu":{"labels":["` + nodesv1.RoleLabel("gpu") + `","` + nodesv1.MemberLabel("gpu") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"gpu"},
			},
		},
		"a node that the selector no longer matches loses the role label": {
			node: node().Label(nodesv1.RoleLabel("gpu"), "").Label(nodesv1.MemberLabel("gpu"), "").
				Annotation(nodesv1.AppliedAnnotation, `{"gpu":{"labels":["`+nodesv1.RoleLabel("gpu")+`","`+nodesv1.MemberLabel("gpu")+`"]}}`).Obj(),
			pool: pools(pool("gpu").Selects("zone", "a")),
			want: Plan{
				RemoveLabels:  []string{nodesv1.RoleLabel("gpu"), nodesv1.MemberLabel("gpu")},
				RecordChanged: true,
				Pending:       []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"a role label that the user set on a selected node is the user's": {
			node: node().Role("gpu").Label("zone", "a").With(carries(pool("gpu"))).Obj(),
			pool: pools(pool("gpu").Selects("zone", "a")),
		},
		"a pool does not select a node by its own label": {
			node: node().With(carries(pool("gpu").Label("zone", "a"))).Obj(),
			pool: pools(pool("gpu").Label("zone", "a").Selects("zone", "a")),
			want: Plan{
				RemoveLabels:  []string{nodesv1.MemberLabel("gpu"), "zone"},
				RecordChanged: true,
				Pending:       []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"an empty selector matches nothing": {
			node: node().Label("zone", "a").Obj(),
			pool: pools(pool("gpu").With(func(p *nodesv1.NodePool) { p.Spec.NodeSelector = &metav1.LabelSelector{} })),
		},
		"a node whose InternalIP lies in a segment is selected, another one is not": {
			node: node().Address("10.20.3.4").Obj(),
			pool: pools(pool("in").CIDR("10.20.0.0/16"), pool("out").CIDR("10.30.0.0/16")),
			want: Plan{
				SetLabels:     map[string]string{nodesv1.RoleLabel("in"): "", nodesv1.AddressLabel("in"): ""},
				Record:        `{"in":{"labels":["` + nodesv1.AddressLabel("in") + `","` + nodesv1.RoleLabel("in") + `"]}}`,
				RecordChanged: true,
				Pending:       []string{"in"},
			},
		},
	})
}

// TestRecordAndLedger holds what the two records decide where they are lost, forged or behind.
func TestRecordAndLedger(t *testing.T) {
	t.Parallel()
	checkPlans(t, map[string]planCase{
		"a forged record removes nothing that the ledger does not confirm": {
			node: node().Taint("protect", "", corev1.TaintEffectNoSchedule).
				Annotation(nodesv1.AppliedAnnotation, `{"gpu":{"labels":["team"],"taints":["protect:NoSchedule"]}}`).Label("team", "a").Obj(),
			pool: pools(full("gpu")),
			want: Plan{RecordChanged: true, Abandoned: []string{"gpu"}, Pending: []string{"gpu"}, Claimed: []string{"gpu"}},
		},
		"a record of a pool that does not exist is dropped and its keys stay": {
			node: node().Label("env", "dev").Annotation(nodesv1.AppliedAnnotation, `{"gone":{"labels":["env"]}}`).Obj(),
			want: Plan{RecordChanged: true, Abandoned: []string{"gone"}},
		},
		"a lost record is written again": {
			node: node().Role("gpu").With(carries(full("gpu")), withoutRecord).Obj(),
			pool: pools(full("gpu")),
			want: Plan{
				Record:        `{"gpu":{"labels":["env","` + nodesv1.MemberLabel("gpu") + `"],"taints":["gpu:NoSchedule"]}}`,
				RecordChanged: true,
			},
		},
		"a taint keeps its old value until the ledger allows the new one": {
			node: node().Role("gpu").With(carries(full("gpu"))).Obj(),
			pool: pools(pool("gpu").Label("env", "dev").Taint("gpu", "new", corev1.TaintEffectNoSchedule).With(ledgerOf(full("gpu")))),
			want: Plan{Pending: []string{"gpu"}},
		},
	})
}

// TestDriftAndHolding holds what is repaired, and what is left as it is.
func TestDriftAndHolding(t *testing.T) {
	t.Parallel()
	checkPlans(t, map[string]planCase{
		"a changed label is drift once the pool was synced": {
			node: node().Role("gpu").With(carries(full("gpu"))).Label("env", "changed").Obj(),
			pool: pools(full("gpu").With(synced)),
			want: Plan{
				SetLabels: map[string]string{"env": "dev"}, Pending: []string{"gpu"}, Drift: []string{"label env"},
			},
		},
		"a changed spec is no drift": {
			node: node().Role("gpu").With(carries(full("gpu"))).Obj(),
			pool: pools(full("gpu").With(synced).Label("env", "new").Generation(2)),
			want: Plan{SetLabels: map[string]string{"env": "new"}, Pending: []string{"gpu"}},
		},
		"a taint that differs only in the time it was added is no change": {
			node: node().Role("gpu").With(carries(full("gpu"))).With(func(n *corev1.Node) {
				now := metav1.Now()
				n.Spec.Taints[0].TimeAdded = &now
			}).Obj(),
			pool: pools(full("gpu")),
		},
		"a paused pool changes nothing and loses nothing": {
			node: node().With(carries(full("gpu"))).Label("env", "changed").Obj(),
			pool: pools(full("gpu").Paused()),
		},
		"a pool whose finalizer was removed changes nothing and loses nothing": {
			node: node().Role("gpu").With(carries(full("gpu"))).Label("env", "changed").Obj(),
			pool: pools(full("gpu").With(withoutFinalizer)),
			want: Plan{Pending: []string{"gpu"}},
		},
		"a pool in dry run changes nothing": {
			node: node().Role("gpu").Obj(),
			pool: pools(full("gpu").DryRun()),
			want: Plan{Pending: []string{"gpu"}},
		},
	})
}

func TestLeaversAreKeptUntilTheyAreCounted(t *testing.T) {
	t.Parallel()
	all, counted := byName(pools(full("gpu"))), false
	mayLeave := func(string) bool { return counted }
	leaver := node().With(carries(full("gpu"))).Obj()
	if plan := NewClearedPlan(leaver, all, mayLeave); !plan.Empty() || !cmp.Equal(plan.Leaving, []string{"gpu"}) {
		t.Errorf("plan for a leaver is %+v", plan)
	}
	member := node().Role("gpu").Obj()
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
	all := byName(pools(full("gpu").Overwrite(nodesv1.OverwriteRestore).DryRun()))
	plan := Preview(node().Role("gpu").Label("env", "prod").Obj(), all, "gpu")
	if plan.SetLabels["env"] != "dev" || !plan.TaintsChanged {
		t.Errorf("preview is %+v", plan)
	}
	if len(all["gpu"].Status.Originals) != 0 || !all["gpu"].Spec.DryRun {
		t.Error("the preview changed the pool")
	}
}

// FuzzParseRecord feeds the record what a kubelet may write into its node's annotation.
func FuzzParseRecord(f *testing.F) {
	f.Add(`{"gpu":{"labels":["a"],"taints":["b:NoSchedule"]}}`)
	f.Add(`[]`)
	f.Add(`{"":{"taints":[":"]}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		n := node().Annotation(nodesv1.AppliedAnnotation, raw).Role("gpu").Obj()
		plan := NewPlan(n, byName(pools(full("gpu"))))
		if _, err := plan.MergePatch(n); err != nil {
			t.Fatal(err)
		}
	})
}
