// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestChooseHandler(t *testing.T) {
	t.Parallel()
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u"}}
	owned := func(handler string) *nodev1.RuntimeClass { return class{handler: handler}.object(pool) }
	cases := map[string]struct {
		spec     string
		inForce  *nodev1.RuntimeClass
		handlers map[string]int
		nodes    int
		want     string
	}{
		"the spec decides":                             {spec: "kata", handlers: map[string]int{"crun": 2}, nodes: 2, want: "kata"},
		"without nodes that tell it is runc":           {want: "runc"},
		"runc is preferred":                            {handlers: map[string]int{"crun": 2, "runc": 2}, nodes: 2, want: "runc"},
		"the first by name of those that all offer":    {handlers: map[string]int{"youki": 2, "crun": 2, "kata": 1}, nodes: 2, want: "crun"},
		"the one in force stays while all offer it":    {inForce: owned("youki"), handlers: map[string]int{"youki": 2, "runc": 2}, nodes: 2, want: "youki"},
		"the one in force stays while nobody tells":    {inForce: owned("youki"), want: "youki"},
		"the one in force goes when a member lacks it": {inForce: owned("youki"), handlers: map[string]int{"youki": 1, "crun": 2}, nodes: 2, want: "crun"},
		// One new node that offered only runc took the handler from all others, where new pods then failed.
		"the one in force stays while they have none in common": {inForce: owned("crun"), handlers: map[string]int{"crun": 2, "runc": 1}, nodes: 3, want: "crun"},
		"the one in force goes when none of them offers it":     {inForce: owned("kata"), handlers: map[string]int{"crun": 2, "runc": 1}, nodes: 3, want: "runc"},
		"nothing in common is runc":                             {handlers: map[string]int{"youki": 1, "crun": 1}, nodes: 2, want: "runc"},
		"a foreign class of the pool's name counts nothing":     {inForce: &nodev1.RuntimeClass{Handler: "kata"}, want: "runc"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := pool.DeepCopy()
			pool.Spec.Handler = tc.spec
			got := chooseHandler(pool, tc.inForce, aggregate{handlers: tc.handlers, reporting: tc.nodes})
			if got != tc.want {
				t.Errorf("handler is %q, want %q", got, tc.want)
			}
		})
	}
}

// TestPodsThatKeepAPool: a pool that was deleted in the foreground had lost its RuntimeClass, and was taken off its nodes under running pods.
func TestPodsThatKeepAPool(t *testing.T) {
	t.Parallel()
	pool := build.Pool("p").UID("u").Obj()
	members := class{handler: "runc", nodeSelector: map[string]string{nodesv1.MemberLabel("p"): ""}}.object(pool)
	orphaned := members.DeepCopy()
	orphaned.OwnerReferences = nil
	foreign := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Handler: "kata"}
	byClass := build.Pod("a").With(func(p *corev1.Pod) { p.Spec.RuntimeClassName = new("p") }).Obj()
	byLabel := build.Pod("a").Label(nodesv1.PoolLabel, "p").With(func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{nodesv1.AddressLabel("p"): ""} // by the policy, when it was created
	}).Obj()
	labelledLater := build.Pod("a").Label(nodesv1.PoolLabel, "p").Obj()
	cases := map[string]struct {
		pod   *corev1.Pod
		class *nodev1.RuntimeClass
		want  bool
	}{
		"by its RuntimeClass":                          {pod: byClass, class: members, want: true},
		"by its RuntimeClass, which is gone":           {pod: byClass, want: true},
		"by its RuntimeClass, which has been orphaned": {pod: byClass, class: orphaned, want: true},
		"not by a RuntimeClass that is another one's":  {pod: byClass, class: foreign},
		"by label": {pod: byLabel, class: members, want: true},
		"by label, where the RuntimeClass is gone":                                       {pod: byLabel, want: true},
		"by label, where the RuntimeClass is not its":                                    {pod: byLabel, class: foreign, want: true},
		"not by a label that did not place it, which anybody may give to a pod anywhere": {pod: labelledLater, class: members},
		"not a pod that names another pool":                                              {pod: build.Pod("a").Label(nodesv1.PoolLabel, "q").Obj(), class: members},
		"not a pod that names none, whatever there is":                                   {pod: build.Pod("a").Obj()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := membership.Chose(tc.pod, pool, tc.class); got != tc.want {
				t.Errorf("the pod uses the pool: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestPodsThatKeepAPoolAreNamed(t *testing.T) {
	t.Parallel()
	names := []string{"a/1", "a/2", "a/3"}
	if got, want := firstUsers(names, 3), "a/1, a/2, a/3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := firstUsers(names, 5), "a/1, a/2, a/3 and 2 more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlanLedgerGrowsAtOnceAndShrinksLast(t *testing.T) {
	t.Parallel()
	ledger := func(labels ...string) nodesv1.Ledger {
		return nodesv1.Ledger{Labels: append(labels, nodesv1.MemberLabel("p"))}
	}
	cases := map[string]struct {
		spec    []string
		have    nodesv1.Ledger
		pending []string
		want    nodesv1.Ledger
	}{
		"a new key is entered":                       {spec: []string{"a"}, want: ledger("a")},
		"a dropped key stays while a node waits":     {spec: []string{"b"}, have: ledger("a", "b"), pending: []string{"n"}, want: ledger("a", "b")},
		"a dropped key goes when no node waits":      {spec: []string{"b"}, have: ledger("a", "b"), want: ledger("b")},
		"a pass that grows it does not shrink it":    {spec: []string{"c"}, have: ledger("a"), want: ledger("a", "c")},
		"a pool without labels holds its membership": {want: ledger()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			pool.Spec.Labels = map[string]nodesv1.LabelValue{}
			for _, key := range tc.spec {
				pool.Spec.Labels[key] = "x"
			}
			pool.Status.Ledger, pool.Status.MemberLabel = tc.have, nodesv1.MemberLabel("p")
			got := planLedger(pool, aggregate{pending: tc.pending})
			if diff := cmp.Diff(membership.Union(tc.want, nodesv1.Ledger{}), got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("ledger differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessagesNameAtMostTen(t *testing.T) {
	t.Parallel()
	list := []string{}
	for i := range 25 {
		list = append(list, fmt.Sprintf("n%02d", i))
	}
	want := "n00, n01, n02, n03, n04, n05, n06, n07, n08, n09 and 15 more"
	if got := examples(list); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTolerationsOfNeighboursAreTolerated(t *testing.T) {
	t.Parallel()
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	pool.Spec.Taints = []nodesv1.Taint{{Key: "a", Value: "1", Effect: corev1.TaintEffectNoSchedule}}
	neighbours := []nodesv1.Taint{
		{Key: "b", Value: "2", Effect: corev1.TaintEffectNoSchedule}, {Key: "a", Value: "1", Effect: corev1.TaintEffectNoSchedule},
	}
	got := wantedClass(pool, nil, aggregate{neighbours: neighbours}).tolerations
	want := []corev1.Toleration{
		{Key: "a", Operator: corev1.TolerationOpEqual, Value: "1", Effect: corev1.TaintEffectNoSchedule},
		{Key: "b", Operator: corev1.TolerationOpEqual, Value: "2", Effect: corev1.TaintEffectNoSchedule},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tolerations differ (-want +got):\n%s", diff)
	}
}

// TestPodsLackTheTaintOfAPoolThatIsLeaving: when a node left one of its two pools, whose taint stayed until the node was drained, no new pod of the other pool
// fitted it.
func TestPodsLackTheTaintOfAPoolThatIsLeaving(t *testing.T) {
	t.Parallel()
	taint := nodesv1.Taint{Key: "b", Value: "1", Effect: corev1.TaintEffectNoSchedule}
	cases := map[string]struct {
		leaving func(*nodesv1.NodePool)
		node    func(*corev1.Node)
		want    []nodesv1.Taint
	}{
		"that the brake holds":      {want: []nodesv1.Taint{taint}},
		"that has lost its record":  {node: func(n *corev1.Node) { n.Annotations = nil; n.Labels[nodesv1.MemberLabel("b")] = "" }, want: []nodesv1.Taint{taint}},
		"with a claim of a kubelet": {node: func(n *corev1.Node) { n.Spec.Taints = nil }},
		"of a pool that drains it": {
			leaving: func(p *nodesv1.NodePool) { p.Status.Draining = []nodesv1.DrainingNode{{Node: "n", UID: "n-uid"}} },
			want:    []nodesv1.Taint{taint},
		},
		"of a pool that is paused": {
			leaving: func(p *nodesv1.NodePool) { p.Annotations = map[string]string{status.PausedAnnotation: "true"} },
			want:    []nodesv1.Taint{taint},
		},
		"of a pool that rehearses": {leaving: func(p *nodesv1.NodePool) { p.Spec.DryRun = true }, want: []nodesv1.Taint{taint}},
	}
	for name, tc := range cases {
		t.Run("a node "+name, func(t *testing.T) {
			t.Parallel()
			leaving := build.Pool("b").UID("b-uid").Taint(taint.Key, taint.Value, taint.Effect).Obj()
			leaving.Finalizers = []string{nodesv1.Finalizer}
			leaving.Status.Ledger, leaving.Status.MemberLabel = membership.Wanted(leaving), nodesv1.MemberLabel("b")
			n := build.Node("n").UID("n-uid").Role("a").Taint(taint.Key, taint.Value, taint.Effect).Obj()
			n.Annotations = map[string]string{nodesv1.AppliedAnnotation: `{"b":{"taints":["b:NoSchedule"]},"gone":{"taints":["b:NoSchedule"]}}`}
			if tc.leaving != nil {
				tc.leaving(leaving)
			}
			if tc.node != nil {
				tc.node(n)
			}
			pools := membership.NewPools(&nodesv1.NodePoolList{Items: []nodesv1.NodePool{*build.Pool("a").UID("a-uid").Obj(), *leaving}})
			got := sumUp("a", []corev1.Node{*n}, pools, func(n *corev1.Node) finding { return find("a", n, pools) })
			if diff := cmp.Diff(tc.want, got.neighbours); diff != "" {
				t.Errorf("the taints of neighbours differ (-want +got):\n%s", diff)
			}
			if got.shared != 0 {
				t.Error("a node that has left the other pool counts as shared")
			}
		})
	}
}
