// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestNodeIsOpenedWithWhatItsPoolsWant(t *testing.T) {
	t.Parallel()
	gpu := corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}
	still := corev1.Taint{Key: nodesv1.UninitializedTaint, Effect: corev1.TaintEffectNoSchedule}
	cases := map[string]struct {
		node *corev1.Node
		pool []*nodesv1.NodePool
		want []corev1.Taint
	}{
		"a node in no pool stays closed":                    {node: node().With(closed).Obj(), pool: pools(full("gpu")), want: []corev1.Taint{still}},
		"a member is opened in the patch that completes it": {node: node().Role("gpu").With(closed).Obj(), pool: pools(full("gpu")), want: []corev1.Taint{gpu}},
		"whatever the taint's value and effect": {
			node: node().Role("gpu").Taint(nodesv1.UninitializedTaint, "x", corev1.TaintEffectNoExecute).Obj(), pool: pools(full("gpu")),
			want: []corev1.Taint{gpu},
		},
		"a member that carries everything is opened": {
			node: node().Role("gpu").With(carries(full("gpu")), closed).Obj(), pool: pools(full("gpu").With(synced)), want: []corev1.Taint{gpu},
		},
		"a key that the ledger does not hold yet keeps it closed": {
			node: node().Role("gpu").With(closed).Obj(), pool: pools(pool("gpu").Label("new", "key").Taint("gpu", "yes", corev1.TaintEffectNoSchedule).With(ledgerOf(full("gpu")))),
			want: []corev1.Taint{still, gpu},
		},
		"an original that has to be noted first keeps it closed": {
			node: node().Role("gpu").Label("env", "prod").With(closed).Obj(), pool: pools(full("gpu").Overwrite(nodesv1.OverwriteRestore)),
			want: []corev1.Taint{still, gpu},
		},
		"a conflict that was lost does not keep it closed": {
			node: node().Role("gpu").Label("env", "prod").With(closed).Obj(), pool: pools(full("gpu").Overwrite(nodesv1.OverwriteNever)),
			want: []corev1.Taint{gpu},
		},
		"one of two pools that is paused keeps it closed": {
			node: node().Role("gpu").Role("b").With(closed).Obj(), pool: pools(full("gpu"), pool("b").Paused()), want: []corev1.Taint{still, gpu},
		},
		"a pool without a finalizer keeps it closed": {
			node: node().Role("gpu").Role("b").With(closed).Obj(), pool: pools(full("gpu"), pool("b").With(withoutFinalizer)), want: []corev1.Taint{still, gpu},
		},
		"a pool in dry run counts for nothing": {
			node: node().Role("gpu").Role("b").With(closed).Obj(), pool: pools(full("gpu"), pool("b").DryRun()), want: []corev1.Taint{gpu},
		},
		"a pool in dry run alone keeps it closed": {
			node: node().Role("b").With(closed).Obj(), pool: pools(pool("b").DryRun()), want: []corev1.Taint{still},
		},
		"a pool whose batch has not come to the node keeps it closed": {
			node: node().Role("gpu").Role("b").With(closed).Obj(), pool: pools(full("gpu"), pool("b").With(oneAtATime())), want: []corev1.Taint{still, gpu},
		},
		"a pool that names the taint itself, from before it was refused, does not bring it back": {
			node: node().Role("gpu").Obj(), pool: pools(pool("gpu").Taint(nodesv1.UninitializedTaint, "", corev1.TaintEffectNoSchedule)),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := NewPlan(tc.node, byName(tc.pool))
			opened := !slices.Contains(tc.want, still)
			apply(t, tc.node, plan)
			if diff := cmp.Diff(tc.want, tc.node.Spec.Taints, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("taints differ (-want +got):\n%s", diff)
			}
			if again := NewPlan(tc.node, byName(tc.pool)); opened && !again.Empty() {
				t.Errorf("the node was opened before everything was there: %+v", again)
			}
		})
	}
}

func TestNodeWaitsForItsBatch(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		node *corev1.Node
		pool *build.PoolBuilder
		want *Plan
	}{
		"one that joins": {node: node().Role("gpu").Obj(), pool: full("gpu").With(oneAtATime()), want: &Plan{}},
		"one in the batch": {
			node: node().Role("gpu").Obj(), pool: pool("gpu").With(oneAtATime("node")),
			want: &Plan{
				SetLabels: map[string]string{nodesv1.MemberLabel("gpu"): ""}, Pending: []string{"gpu"},
				Record: `{"gpu":{"labels":["` + nodesv1.MemberLabel("gpu") + `"]}}`, RecordChanged: true,
			},
		},
		"one whose labels changed in the spec": {
			node: node().Role("gpu").With(carries(pool("gpu").Label("env", "old"))).Obj(),
			pool: pool("gpu").Label("env", "new").With(oneAtATime("other")), want: &Plan{},
		},
		"one whose record is lost": {
			node: node().Role("gpu").With(carries(full("gpu")), withoutRecord).Obj(), pool: full("gpu").With(oneAtATime()), want: &Plan{},
		},
		"one that follows already": {
			node: node().Role("gpu").With(carries(full("gpu"))).Obj(), pool: full("gpu").With(oneAtATime(), synced), want: &Plan{},
		},
		"not one that left": {
			node: node().With(carries(pool("gpu"))).Obj(), pool: pool("gpu").With(oneAtATime()),
			want: &Plan{
				RemoveLabels: []string{nodesv1.MemberLabel("gpu")}, RecordChanged: true, Pending: []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"not one whose pool is being deleted": {
			node: node().Role("gpu").With(carries(pool("gpu"))).Obj(), pool: pool("gpu").With(oneAtATime(), deleting),
			want: &Plan{
				RemoveLabels: []string{nodesv1.MemberLabel("gpu")}, RecordChanged: true, Pending: []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := NewPlan(tc.node, byName(pools(tc.pool)))
			if !got.RecordChanged {
				got.Record = ""
			}
			ignore := cmpopts.IgnoreFields(Plan{}, "Taints", "Kept", "Members", "Carrying", "Early")
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty(), ignore); diff != "" {
				t.Errorf("plan differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBehindIsWhoHasToFollow(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		node *corev1.Node
		pool []*nodesv1.NodePool
		want bool
	}{
		"a node that joins":          {node: node().Role("gpu").Obj(), pool: pools(full("gpu").With(oneAtATime())), want: true},
		"not one that is in no pool": {node: node().Obj(), pool: pools(full("gpu").With(oneAtATime()))},
		"not one that follows":       {node: node().Role("gpu").With(carries(full("gpu"))).Obj(), pool: pools(full("gpu").With(oneAtATime(), synced))},
		"one of which only the record has to change, because another pool wants the key as well": {
			node: node().Role("gpu").Role("b").With(carries(full("gpu"), full("b"))).Obj(), pool: pools(pool("gpu").With(oneAtATime()), full("b")), want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Behind(tc.node, byName(tc.pool), "gpu"); got != tc.want {
				t.Errorf("behind is %t", got)
			}
		})
	}
}

func TestDrainingNodeGivesUpTheMembershipFirst(t *testing.T) {
	t.Parallel()
	draining := func(uid types.UID, drained bool) func(*nodesv1.NodePool) {
		return func(p *nodesv1.NodePool) {
			p.Status.Draining = []nodesv1.DrainingNode{{Node: "node", UID: uid, Drained: drained}}
		}
	}
	member := nodesv1.MemberLabel("gpu")
	cases := map[string]struct {
		node       *corev1.Node
		pool       *build.PoolBuilder
		open       bool
		wantLabels []string
		wantTaints bool
	}{
		"nothing goes before the drain has begun":     {node: node().With(carries(full("gpu"))).Obj(), pool: full("gpu"), wantLabels: []string{"env", member}, wantTaints: true},
		"the membership goes when it has begun":       {node: node().With(carries(full("gpu"))).Obj(), pool: full("gpu").With(draining("uid", false)), wantLabels: []string{"env"}, wantTaints: true},
		"everything goes when it is over":             {node: node().With(carries(full("gpu"))).Obj(), pool: full("gpu").With(draining("uid", true)), open: true},
		"without a clearance everything stays":        {node: node().With(carries(full("gpu"))).Obj(), pool: full("gpu").With(draining("uid", true)), wantLabels: []string{"env", member}, wantTaints: true},
		"another node of that name is not drained":    {node: node().With(carries(full("gpu"))).Obj(), pool: full("gpu").With(draining("another", false)), wantLabels: []string{"env", member}, wantTaints: true},
		"the nodes of a deleted pool are drained too": {node: node().Role("gpu").With(carries(full("gpu"))).Obj(), pool: full("gpu").With(draining("uid", false), deleting), wantLabels: []string{"env", nodesv1.RoleLabel("gpu")}, wantTaints: true},
		"a node that came back is a member again": {
			node: node().Role("gpu").Label("env", "dev").
				Annotation(nodesv1.AppliedAnnotation, `{"gpu":{"labels":["env"],"taints":["gpu:NoSchedule"]}}`).Taint("gpu", "yes", corev1.TaintEffectNoSchedule).Obj(),
			pool: full("gpu").With(draining("uid", false)), wantLabels: []string{"env", nodesv1.RoleLabel("gpu"), member}, wantTaints: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mayLeave := func(string) bool { return tc.open }
			for range 2 { // the second time nothing changes
				apply(t, tc.node, NewClearedPlan(tc.node, byName(pools(tc.pool)), mayLeave))
				labels := []string{}
				for key := range tc.node.Labels {
					labels = append(labels, key)
				}
				slices.Sort(labels)
				if diff := cmp.Diff(tc.wantLabels, labels, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("labels differ (-want +got):\n%s", diff)
				}
				if got := len(tc.node.Spec.Taints) > 0; got != tc.wantTaints {
					t.Errorf("the node has taints: %t", got)
				}
			}
		})
	}
}

// oneAtATime bounds the rollout. The named nodes are the batch.
func oneAtATime(nodes ...string) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) {
		p.Spec.Rollout = &nodesv1.Rollout{MaxConcurrent: intstr.FromInt32(1)}
		p.Status.Rollout = &nodesv1.RolloutStatus{Nodes: nodes}
	}
}
