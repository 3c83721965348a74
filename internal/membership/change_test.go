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
)

func TestNodeIsOpenedWithWhatItsPoolsWant(t *testing.T) {
	t.Parallel()
	closed := taint(nodesv1.UninitializedTaint, "", corev1.TaintEffectNoSchedule)
	gpu := corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}
	still := corev1.Taint{Key: nodesv1.UninitializedTaint, Effect: corev1.TaintEffectNoSchedule}
	cases := map[string]struct {
		node *corev1.Node
		pool []*nodesv1.NodePool
		want []corev1.Taint
	}{
		"a node in no pool stays closed":                    {node: node(closed), pool: pools(full("gpu")), want: []corev1.Taint{still}},
		"a member is opened in the patch that completes it": {node: node(role("gpu"), closed), pool: pools(full("gpu")), want: []corev1.Taint{gpu}},
		"whatever the taint's value and effect": {
			node: node(role("gpu"), taint(nodesv1.UninitializedTaint, "x", corev1.TaintEffectNoExecute)), pool: pools(full("gpu")),
			want: []corev1.Taint{gpu},
		},
		"a member that carries everything is opened": {
			node: node(role("gpu"), carries(full("gpu")), closed), pool: pools(full("gpu", synced)), want: []corev1.Taint{gpu},
		},
		"a key that the ledger does not hold yet keeps it closed": {
			node: node(role("gpu"), closed), pool: pools(full("gpu", withLabel("new", "key"), ledgerOf(full("gpu")))),
			want: []corev1.Taint{still, gpu},
		},
		"an original that has to be noted first keeps it closed": {
			node: node(role("gpu"), label("env", "prod"), closed), pool: pools(full("gpu", overwrite(nodesv1.OverwriteRestore))),
			want: []corev1.Taint{still, gpu},
		},
		"a conflict that was lost does not keep it closed": {
			node: node(role("gpu"), label("env", "prod"), closed), pool: pools(full("gpu", overwrite(nodesv1.OverwriteNever))),
			want: []corev1.Taint{gpu},
		},
		"one of two pools that is paused keeps it closed": {
			node: node(role("gpu"), role("b"), closed), pool: pools(full("gpu"), pool("b", paused)), want: []corev1.Taint{still, gpu},
		},
		"a pool without a finalizer keeps it closed": {
			node: node(role("gpu"), role("b"), closed), pool: pools(full("gpu"), pool("b", withoutFinalizer)), want: []corev1.Taint{still, gpu},
		},
		"a pool in dry run counts for nothing": {
			node: node(role("gpu"), role("b"), closed), pool: pools(full("gpu"), pool("b", rehearsed)), want: []corev1.Taint{gpu},
		},
		"a pool in dry run alone keeps it closed": {
			node: node(role("b"), closed), pool: pools(pool("b", rehearsed)), want: []corev1.Taint{still},
		},
		"a pool whose batch has not come to the node keeps it closed": {
			node: node(role("gpu"), role("b"), closed), pool: pools(full("gpu"), pool("b", oneAtATime())), want: []corev1.Taint{still, gpu},
		},
		"a pool that names the taint itself, from before it was refused, does not bring it back": {
			node: node(role("gpu")), pool: pools(pool("gpu", withTaint(nodesv1.UninitializedTaint, "", corev1.TaintEffectNoSchedule))),
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
		pool *nodesv1.NodePool
		want *Plan
	}{
		"one that joins": {node: node(role("gpu")), pool: full("gpu", oneAtATime()), want: &Plan{}},
		"one in the batch": {
			node: node(role("gpu")), pool: pool("gpu", oneAtATime("node")),
			want: &Plan{
				SetLabels: map[string]string{nodesv1.MemberLabel("gpu"): ""}, Pending: []string{"gpu"},
				Record: `{"gpu":{"labels":["` + nodesv1.MemberLabel("gpu") + `"]}}`, RecordChanged: true,
			},
		},
		"one whose labels changed in the spec": {
			node: node(role("gpu"), carries(pool("gpu", withLabel("env", "old")))),
			pool: pool("gpu", withLabel("env", "new"), oneAtATime("other")), want: &Plan{},
		},
		"one whose record is lost": {
			node: node(role("gpu"), carries(full("gpu")), withoutRecord), pool: full("gpu", oneAtATime()), want: &Plan{},
		},
		"one that follows already": {
			node: node(role("gpu"), carries(full("gpu"))), pool: full("gpu", oneAtATime(), synced), want: &Plan{},
		},
		"not one that left": {
			node: node(carries(pool("gpu"))), pool: pool("gpu", oneAtATime()),
			want: &Plan{
				RemoveLabels: []string{nodesv1.MemberLabel("gpu")}, RecordChanged: true, Pending: []string{"gpu"}, Leaving: []string{"gpu"},
			},
		},
		"not one whose pool is being deleted": {
			node: node(role("gpu"), carries(pool("gpu"))), pool: pool("gpu", oneAtATime(), deleting),
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
		"a node that joins":          {node: node(role("gpu")), pool: pools(full("gpu", oneAtATime())), want: true},
		"not one that is in no pool": {node: node(), pool: pools(full("gpu", oneAtATime()))},
		"not one that follows":       {node: node(role("gpu"), carries(full("gpu"))), pool: pools(full("gpu", oneAtATime(), synced))},
		"one of which only the record has to change, because another pool wants the key as well": {
			node: node(role("gpu"), role("b"), carries(full("gpu"), full("b"))), pool: pools(pool("gpu", oneAtATime()), full("b")), want: true,
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
	draining := func(uid types.UID, drained bool) poolOption {
		return func(p *nodesv1.NodePool) {
			p.Status.Draining = []nodesv1.DrainingNode{{Node: "node", UID: uid, Drained: drained}}
		}
	}
	member := nodesv1.MemberLabel("gpu")
	cases := map[string]struct {
		node       *corev1.Node
		pool       *nodesv1.NodePool
		open       bool
		wantLabels []string
		wantTaints bool
	}{
		"nothing goes before the drain has begun":     {node: node(carries(full("gpu"))), pool: full("gpu"), wantLabels: []string{"env", member}, wantTaints: true},
		"the membership goes when it has begun":       {node: node(carries(full("gpu"))), pool: full("gpu", draining("uid", false)), wantLabels: []string{"env"}, wantTaints: true},
		"everything goes when it is over":             {node: node(carries(full("gpu"))), pool: full("gpu", draining("uid", true)), open: true},
		"without a clearance everything stays":        {node: node(carries(full("gpu"))), pool: full("gpu", draining("uid", true)), wantLabels: []string{"env", member}, wantTaints: true},
		"another node of that name is not drained":    {node: node(carries(full("gpu"))), pool: full("gpu", draining("another", false)), wantLabels: []string{"env", member}, wantTaints: true},
		"the nodes of a deleted pool are drained too": {node: node(role("gpu"), carries(full("gpu"))), pool: full("gpu", draining("uid", false), deleting), wantLabels: []string{"env", nodesv1.RoleLabel("gpu")}, wantTaints: true},
		"a node that came back is a member again": {
			node: node(role("gpu"), label("env", "dev"), record(`{"gpu":{"labels":["env"],"taints":["gpu:NoSchedule"]}}`), taint("gpu", "yes", corev1.TaintEffectNoSchedule)),
			pool: full("gpu", draining("uid", false)), wantLabels: []string{"env", nodesv1.RoleLabel("gpu"), member}, wantTaints: true,
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

func rehearsed(p *nodesv1.NodePool) { p.Spec.DryRun = true }

// oneAtATime bounds the rollout. The named nodes are the batch.
func oneAtATime(nodes ...string) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.Rollout = &nodesv1.Rollout{MaxConcurrent: intstr.FromInt32(1)}
		p.Status.Rollout = &nodesv1.RolloutStatus{Nodes: nodes}
	}
}
