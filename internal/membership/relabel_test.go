// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// at makes the kubelet of the node report an address.
func at(address string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
	}
}

// labelling is the pool whose RuntimeClass selects the label, with every membership label in its ledger.
func labelling(selected string) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) {
		p.Status.MemberLabel = selected
		p.Status.Ledger = Union(Wanted(p), nodesv1.Ledger{Labels: append(nodesv1.MemberLabels(p.Name), nodesv1.RoleLabel(p.Name))})
	}
}

// joined puts member labels and role label of the pool gpu on a node, recorded.
func joined(labels ...string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		record := Record{}
		for _, key := range labels {
			n.Labels[key] = ""
			record.add("gpu", onLabels, key)
		}
		n.Annotations = map[string]string{nodesv1.AppliedAnnotation: record.String()}
	}
}

// A kubelet reports its address itself. A node that walked into a pool by its address used to get the label that proves to others
// that somebody had put it there.
func TestAttackAKubeletWalksIntoAPoolByItsAddress(t *testing.T) {
	t.Parallel()
	strict := nodesv1.MemberLabel("gpu")
	pools := map[string]*build.PoolBuilder{
		"a pool of a segment":                     pool("gpu").CIDR("10.20.0.0/16"),
		"a pool of a segment and a selector":      pool("gpu").CIDR("10.20.0.0/16").Selects(restrictedZone, "b"),
		"a pool that has just gained the segment": pool("gpu").CIDR("10.20.0.0/16").With(labelling(strict)),
		"a pool of an earlier version":            pool("gpu").CIDR("10.20.0.0/16").With(labelling("")),
		"a pool that lost its status":             pool("gpu").CIDR("10.20.0.0/16").With(func(p *nodesv1.NodePool) { p.Status.Ledger.Labels = []string{"none"} }),
		"a pool that has just lost the segment":   pool("gpu").With(labelling(nodesv1.AddressLabel("gpu"))),
		"a pool that selects by a label since":    pool("gpu").Selects(restrictedZone, "b").With(labelling(nodesv1.AddressLabel("gpu"))),
	}
	nodes := map[string]*build.NodeBuilder{
		"a new node":                     node().With(at("10.20.1.2")),
		"one that forges its record":     node().With(at("10.20.1.2")).Annotation(nodesv1.AppliedAnnotation, `{"gpu":{"labels":["`+strict+`"]}}`),
		"one that has joined by address": node().With(at("10.20.1.2"), joined(nodesv1.AddressLabel("gpu"), nodesv1.RoleLabel("gpu"))),
	}
	nodes["one that then edited its record"] = node().With(at("10.20.1.2"), joined(nodesv1.AddressLabel("gpu"))).Label(nodesv1.RoleLabel("gpu"), "")
	nodes["one that then removed its record"] = node().With(at("10.20.1.2"), joined(nodesv1.AddressLabel("gpu"), nodesv1.RoleLabel("gpu")), withoutRecord)
	for poolName, builder := range pools {
		for nodeName, n := range nodes {
			t.Run(nodeName+", "+poolName, func(t *testing.T) {
				t.Parallel()
				current, all := n.Obj().DeepCopy(), byName([]*nodesv1.NodePool{ready(builder)})
				for range 3 {
					apply(t, current, NewPlan(current, all))
					if _, got := current.Labels[strict]; got {
						t.Fatalf("the node has labels %v", current.Labels)
					}
				}
			})
		}
	}
}

func TestMemberLabelFollowsTheSegmentsOfThePool(t *testing.T) {
	t.Parallel()
	strict, byAddress := nodesv1.MemberLabel("gpu"), nodesv1.AddressLabel("gpu")
	segment := func() *build.PoolBuilder { return pool("gpu").CIDR("10.20.0.0/16") }
	cases := map[string]struct {
		node *corev1.Node
		pool *build.PoolBuilder
		want []string
	}{
		"a member of a pool with a segment has the label of addresses":         {node: node().Role("gpu").Obj(), pool: segment(), want: []string{byAddress}},
		"a member of a pool without one has the strict label":                  {node: node().Role("gpu").Obj(), pool: pool("gpu"), want: []string{strict}},
		"a member gets the other label while the RuntimeClass selects its own": {node: node().Role("gpu").With(joined(strict)).Obj(), pool: segment().With(labelling(strict)), want: []string{byAddress, strict}},
		"the same where no status says what is selected":                       {node: node().Role("gpu").With(joined(strict)).Obj(), pool: segment().With(labelling("")), want: []string{byAddress, strict}},
		"a node that joins meanwhile gets the new label only":                  {node: node().Role("gpu").Obj(), pool: segment().With(labelling(strict)), want: []string{byAddress}},
		"the old one goes when the RuntimeClass selects the new one":           {node: node().Role("gpu").With(joined(byAddress, strict)).Obj(), pool: segment().With(labelling(byAddress)), want: []string{byAddress}},
		"both labels are exchanged in one patch":                               {node: node().Role("gpu").With(joined(strict)).Obj(), pool: segment().With(labelling(byAddress)), want: []string{byAddress}},
		"the way back begins with the strict label":                            {node: node().Role("gpu").With(joined(byAddress)).Obj(), pool: pool("gpu").With(labelling(byAddress)), want: []string{byAddress, strict}},
		"the way back ends without the other one":                              {node: node().Role("gpu").With(joined(byAddress, strict)).Obj(), pool: pool("gpu").With(labelling(strict)), want: []string{strict}},
		"a node whose batch has not come keeps what it has":                    {node: node().Role("gpu").With(joined(strict)).Obj(), pool: segment().With(labelling(strict), oneAtATime("another")), want: []string{strict}},
		"a node of a paused pool keeps what it has":                            {node: node().Role("gpu").With(joined(byAddress, strict)).Obj(), pool: segment().Paused().With(labelling(byAddress)), want: []string{byAddress, strict}},
		"a node without its record loses the old label, too":                   {node: node().Role("gpu").With(joined(byAddress, strict), withoutRecord).Obj(), pool: segment().With(labelling(byAddress)), want: []string{byAddress}},
		"a node that leaves loses both":                                        {node: node().With(joined(byAddress, strict)).Obj(), pool: segment().With(labelling(strict))},
		"a pool that is deleted takes both":                                    {node: node().Role("gpu").With(joined(byAddress, strict)).Obj(), pool: segment().With(labelling(strict), deleting)},
		"a pool that is deleted and leaves the rest takes both":                {node: node().Role("gpu").With(joined(byAddress, strict)).Obj(), pool: segment().With(labelling(strict), deleting, orphaning)},
		"nothing goes that the ledger does not name":                           {node: node().Role("gpu").With(joined(strict)).Obj(), pool: segment().With(func(p *nodesv1.NodePool) { p.Status.MemberLabel = byAddress }), want: []string{byAddress, strict}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := byName([]*nodesv1.NodePool{ready(tc.pool)})
			apply(t, tc.node, NewPlan(tc.node, all))
			var got []string
			for key := range tc.node.Labels {
				if _, member := nodesv1.CutMemberLabel(key); member {
					got = append(got, key)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("member labels differ (-want +got):\n%s", diff)
			}
			if again := NewPlan(tc.node, all); !again.Empty() {
				t.Errorf("a second patch would change %v and remove %v", again.SetLabels, again.RemoveLabels)
			}
		})
	}
}

// A batch must be able to end: a node that has both labels has nothing to follow until the RuntimeClass does.
func TestNodeWithBothLabelsIsNotBehind(t *testing.T) {
	t.Parallel()
	strict, byAddress := nodesv1.MemberLabel("gpu"), nodesv1.AddressLabel("gpu")
	both := node().Role("gpu").With(joined(byAddress, strict)).Obj()
	for selected, want := range map[string]bool{strict: false, byAddress: true} {
		list := []*nodesv1.NodePool{ready(pool("gpu").CIDR("10.20.0.0/16").With(labelling(selected), oneAtATime("node")))}
		if got := Behind(both, byName(list), "gpu"); got != want {
			t.Errorf("while the RuntimeClass selects %s, the node is behind: %t", selected, got)
		}
	}
}

func orphaning(p *nodesv1.NodePool) { p.Spec.DeletionPolicy = nodesv1.DeletionOrphan }
