// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit/build"
	"github.com/windlass-operator/windlass/internal/why"
)

// keeper returns a pool "gpu" that acts on its nodes, and whose ledger holds what it wants.
func keeper(change ...func(*build.PoolBuilder)) *build.PoolBuilder {
	b := build.Pool("gpu").Label("gpu", "yes").Finalizer(nodesv1.Finalizer).UID("gpu")
	for _, c := range change {
		c(b)
	}
	b.Obj().Status.Ledger = membership.Wanted(b.Obj())
	b.Obj().Status.MemberLabel = b.Obj().MemberLabel()
	return b
}

// follower returns a node that carries everything of pool gpu.
func follower() *build.NodeBuilder {
	return build.Node("a").UID("a").Member("gpu").Label("gpu", "yes").Ready(corev1.ConditionTrue).Annotation(nodesv1.AppliedAnnotation,
		`{"gpu":{"labels":["gpu","nodepool.node-restriction.kubernetes.io/gpu"]}}`)
}

func poolsOf(all ...*build.PoolBuilder) membership.Pools {
	list := &nodesv1.NodePoolList{}
	for _, b := range all {
		list.Items = append(list.Items, *b.Obj())
	}
	return membership.NewPools(list)
}

func TestMembership(t *testing.T) {
	t.Parallel()
	stranger := func() *build.NodeBuilder { return build.Node("a").UID("a").Address("192.0.2.7") }
	tests := map[string]struct {
		node  *build.NodeBuilder
		pools membership.Pools
		want  string
	}{
		"a member that carries everything": {
			node: follower(), pools: poolsOf(keeper()), want: "Node a is a member of pool gpu and carries what it wants.",
		},
		"there is no pool": {
			node: follower(), pools: poolsOf(), want: "PoolNotFound: Pool gpu does not exist.",
		},
		"a selector that cannot be understood": {
			node: follower(), pools: poolsOf(keeper(func(b *build.PoolBuilder) { b.CIDR("nonsense") })),
			want: `InvalidSelector: Cannot read spec.nodeCIDRs: netip.ParsePrefix("nonsense"): no '/'.`,
		},
		"a node that nothing selects": {
			node: stranger(), pools: poolsOf(keeper(func(b *build.PoolBuilder) { b.Selects("rack", "1").CIDR("10.0.0.0/8") })),
			want: "NotSelected: Node a is not a member of pool gpu: it does not have the label node-role.kubernetes.io/gpu from another owner, " +
				"and its labels do not match rack=1, and none of its internal addresses (192.0.2.7) is in 10.0.0.0/8.",
		},
		"a node that left and is about to be cleaned": {
			node: follower().WithoutLabel(nodesv1.RoleLabel("gpu")), pools: poolsOf(keeper()), want: "Leaving: Node a has left pool gpu and has not been cleaned yet.",
		},
		"a node that left and is held by the brake": {
			node: follower().WithoutLabel(nodesv1.RoleLabel("gpu")),
			pools: poolsOf(keeper(func(b *build.PoolBuilder) {
				b.Condition(nodesv1.ConditionSafetyBrake, metav1.ConditionTrue, nodesv1.ReasonTooManyLeaving, "3 of 4 nodes")
			})),
			want: "TooManyLeaving: Node a has left pool gpu, and the safety brake holds it: 3 of 4 nodes.",
		},
		"a node that left and is being drained": {
			node: follower().WithoutLabel(nodesv1.RoleLabel("gpu")),
			pools: poolsOf(keeper(func(b *build.PoolBuilder) {
				b.Obj().Status.Draining = []nodesv1.DrainingNode{{Node: "a", UID: "a"}}
			})),
			want: "Draining: Node a has left pool gpu and is being drained.",
		},
		"a node that left, is being drained and has lost the member label, which was all that the pool gave it": {
			node: build.Node("a").UID("a"),
			pools: poolsOf(keeper(func(b *build.PoolBuilder) {
				b.Obj().Status.Draining = []nodesv1.DrainingNode{{Node: "a", UID: "a"}}
			})),
			want: "Draining: Node a has left pool gpu and is being drained.",
		},
		"a start-up taint that stays because another pool of the node is paused": {
			node:  follower().Role("web").Taint(nodesv1.UninitializedTaint, "", corev1.TaintEffectNoSchedule),
			pools: poolsOf(keeper(), build.Pool("web").UID("web").Label("web", "yes").Finalizer(nodesv1.Finalizer).Paused()),
			want: "NodeUninitialized: Node a still has the taint nodes.lailin.xyz/uninitialized with which it registered: " +
				"pool web, of which it is a member as well, is paused.",
		},
		"a pool that is being deleted": {
			node: follower(), pools: poolsOf(keeper(func(b *build.PoolBuilder) { b.Deleting(time.Unix(1, 0)) })),
			want: "PoolDeleting: Pool gpu is being deleted.",
		},
		"a pool that is being deleted and has let the node go, which it selects": {
			node: stranger().Label("zone", "x"), pools: poolsOf(keeper(func(b *build.PoolBuilder) { b.Selects("zone", "x").Deleting(time.Unix(1, 0)) })),
			want: "PoolDeleting: Pool gpu is being deleted.",
		},
		"a pool that is being deleted and waits for another node": {
			node: stranger(), pools: poolsOf(keeper(func(b *build.PoolBuilder) {
				b.Deleting(time.Unix(1, 0)).Condition("Ready", metav1.ConditionFalse, nodesv1.ReasonDraining, "1 node is being drained")
			})),
			want: "PoolDeleting: Pool gpu is being deleted: 1 node is being drained.",
		},
		"a paused pool": {
			node: stranger().Role("gpu"), pools: poolsOf(keeper(func(b *build.PoolBuilder) { b.Paused() })), want: "PoolPaused: Pool gpu is paused: it changes no node.",
		},
		"a paused pool whose node carries everything": {
			node: follower(), pools: poolsOf(keeper(func(b *build.PoolBuilder) { b.Paused() })), want: "Node a is a member of pool gpu and carries what it wants.",
		},
		"a pool in dry run": {
			node: stranger().Role("gpu"), pools: poolsOf(keeper(func(b *build.PoolBuilder) { b.DryRun() })), want: "DryRun: Pool gpu is in dry run: it changes no node.",
		},
		"a pool that Windlass has not seen": {
			node: stranger().Role("gpu"), pools: poolsOf(build.Pool("gpu")), want: "NotObserved: Windlass has not looked at pool gpu yet.",
		},
		"a node that waits for its batch": {
			node: stranger().Role("gpu"),
			pools: poolsOf(keeper(func(b *build.PoolBuilder) {
				b.Obj().Spec.Rollout = &nodesv1.Rollout{}
				b.Obj().Status.Rollout = &nodesv1.RolloutStatus{Nodes: []string{"b", "c"}}
			})),
			want: "WaitsForBatch: Node a waits for its batch of the rollout; the present batch is b, c.",
		},
		"a key of another owner": {
			node: stranger().Role("gpu").Label("gpu", "no"), pools: poolsOf(keeper(func(b *build.PoolBuilder) { b.Overwrite(nodesv1.OverwriteNever) })),
			want: "KeysHeldElsewhere: Label gpu is held by another owner, and pool gpu wants another value.",
		},
		"a key of a pool that wins": {
			node: stranger().Role("gpu").Role("edge"),
			pools: func() membership.Pools {
				edge := build.Pool("edge").Label("gpu", "no").Priority(7).Finalizer(nodesv1.Finalizer)
				edge.Obj().Status.Ledger = membership.Wanted(edge.Obj())
				return poolsOf(keeper(), edge)
			}(),
			want: "KeysHeldElsewhere: Label gpu is held by pool edge (priority 7), and pool gpu wants another value.",
		},
		"a node that has not been written yet": {
			node: stranger().Role("gpu"), pools: poolsOf(keeper()), want: "SyncingNodes: Node a does not carry everything of pool gpu yet.",
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			got := why.Membership(tt.node.Obj(), tt.pools, "gpu")
			if diff := cmp.Diff(tt.want, toldOf(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkShape(t, got)
		})
	}
}

// TestNodeWhosePoolIsPausedForATime: the explanations of the node, alone and with the pool, know when the pause ends.
func TestNodeWhosePoolIsPausedForATime(t *testing.T) {
	t.Parallel()
	end := metav1.NewTime(time.Unix(99, 0).UTC())
	pools := poolsOf(keeper(func(b *build.PoolBuilder) { b.Annotation("windlass.io/paused", "1970-01-01T00:01:39Z") }))
	node := build.Node("a").Ready(corev1.ConditionTrue).Role("gpu").Obj()
	for name, got := range map[string]*why.Explanation{"alone": why.Node(node, pools, ""), "with the pool": why.Membership(node, pools, "gpu")} {
		want := &why.Step{
			Text: "The pause ends by itself. To end it now, remove the annotation.", Command: "kubectl annotate nodepools.nodes.lailin.xyz gpu windlass.io/paused-", Heals: true, At: &end,
		}
		if diff := cmp.Diff(want, got.Failure().Next); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNode(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		node    *build.NodeBuilder
		pools   membership.Pools
		because string
		want    string
	}{
		"a node in order":    {node: follower(), pools: poolsOf(keeper()), want: "Node a is ready and accepts pods."},
		"a node in no pool":  {node: build.Node("a").Ready(corev1.ConditionTrue), pools: poolsOf(keeper()), want: "Node a is ready and accepts pods."},
		"a node that is off": {node: follower().Ready(corev1.ConditionUnknown), pools: poolsOf(keeper()), want: "NodeNotReady: Node a is not ready."},
		"a node whose kubelet is silent": {
			node: follower().With(func(n *corev1.Node) {
				n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Message: "Kubelet stopped posting node status."}}
			}),
			pools: poolsOf(keeper()), want: "NodeNotReady: Node a is not ready: Kubelet stopped posting node status.",
		},
		"a cordoned node": {node: follower().Cordoned(), pools: poolsOf(keeper()), want: "NodeCordoned: Node a is cordoned: it accepts no new pods."},
		"a full disk": {
			node: follower().With(func(n *corev1.Node) {
				n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue, Message: "90%"})
			}),
			pools: poolsOf(keeper()), want: "NodePressure: Node a has DiskPressure: 90%.",
		},
		"a node that its pool has not written": {
			node: build.Node("a").Ready(corev1.ConditionTrue).Role("gpu"), pools: poolsOf(keeper()), want: "SyncingNodes: Node a does not carry everything of pool gpu yet.",
		},
		"a node that carries something of a pool that is being deleted": {
			node: follower(), pools: poolsOf(keeper(func(b *build.PoolBuilder) { b.Deleting(time.Unix(1, 0)) })), want: "PoolDeleting: Pool gpu is being deleted.",
		},
		"a node that a pool that is being deleted has let go": {
			node:  build.Node("a").Label("zone", "x").Ready(corev1.ConditionTrue),
			pools: poolsOf(keeper(func(b *build.PoolBuilder) { b.Selects("zone", "x").Deleting(time.Unix(1, 0)) })), want: "Node a is ready and accepts pods.",
		},
		"pools that the caller may not list": {
			node: build.Node("a").Ready(corev1.ConditionTrue).Role("gpu"), because: "you may not list nodepools", want: "Nothing that could be looked at explains it.",
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			got := why.Node(tt.node.Obj(), tt.pools, tt.because)
			if diff := cmp.Diff(tt.want, toldOf(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkShape(t, got)
		})
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Unix(7, 0))
	node := follower().Label("zone", "a").Label("mine", "1").Annotation("note", "x").Taint("team", "x", corev1.TaintEffectNoSchedule).With(func(n *corev1.Node) {
		n.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "kubelet", Time: &at, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:zone":{}}}}`)},
			{Manager: "kubectl-label", Time: &at, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:mine":{},"f:node-role.kubernetes.io/gpu":{}}}}`)},
			{Manager: "kubectl-taint", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:taints":{}}}`)},
			{Manager: "garbage", FieldsV1: metav1.NewFieldsV1(`[`)},
		}
	}).Obj()
	original := "no"
	gpu := keeper().With(func(p *nodesv1.NodePool) {
		p.Status.Originals = []nodesv1.Original{{Node: "a", UID: "a", Labels: map[string]string{"gpu": original}}}
	})
	edge := build.Pool("edge").Label("gpu", "maybe").Selects("zone", "a").Priority(-1).Finalizer(nodesv1.Finalizer)
	edge.Obj().Status.Ledger = membership.Wanted(edge.Obj())
	pools := poolsOf(gpu, edge)
	want := []why.Origin{
		{Key: "annotation nodes.lailin.xyz/applied", Value: node.Annotations[nodesv1.AppliedAnnotation], By: why.ByUnknown, Message: "Nobody knows who has set it: no field manager names it."},
		{Key: "annotation note", Value: "x", By: why.ByUnknown, Message: "Nobody knows who has set it: no field manager names it."},
		{Key: "label gpu", Value: "yes", By: why.ByPool, Pool: "gpu", Replaced: &original, Lost: []string{"edge"}, Message: `Pool gpu has set it in place of "no", which comes back when the node leaves the pool; another value is wanted by pool edge.`},
		{Key: "label mine", Value: "1", By: why.ByManager, Manager: "kubectl-label", At: &at, Message: "The field manager kubectl-label has set it."},
		{Key: "label node-role.kubernetes.io/gpu", Value: "true", By: why.ByManager, Manager: "kubectl-label", At: &at, Message: "The field manager kubectl-label has set it."},
		{Key: "label nodepool.node-restriction.kubernetes.io/gpu", By: why.ByPool, Pool: "gpu", Message: "Pool gpu has set it."},
		{Key: "label zone", Value: "a", By: why.ByKubelet, Manager: "kubelet", At: &at, Message: "The kubelet has set it."},
		{Key: "taint team:NoSchedule", Value: "x", By: why.ByManager, Manager: "kubectl-taint", Message: "The field manager kubectl-taint has written the list of taints last."},
	}
	if diff := cmp.Diff(want, why.Origins(node, pools, "")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for key, at := range map[string]int{"zone": 6, "label zone": 6, "team": 7, "note": 1} {
		if diff := cmp.Diff(want[at:at+1], why.Origins(node, pools, key)); diff != "" {
			t.Errorf("of %s (-want +got):\n%s", key, diff)
		}
	}
}

// A record is the node's own word: a kubelet that claims a key for a pool is not believed.
func TestAttackANodeClaimsThatAPoolSetItsLabel(t *testing.T) {
	t.Parallel()
	node := build.Node("a").Label("trusted", "yes").Annotation(nodesv1.AppliedAnnotation, `{"gpu":{"labels":["trusted"]}}`).Obj()
	got := why.Origins(node, poolsOf(keeper()), "trusted")
	if len(got) != 1 || got[0].By != why.ByUnknown {
		t.Errorf("the label is told as %+v", got)
	}
}
