// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestNodeThatRegistersClosedIsOpenedInTheSamePatch(t *testing.T) {
	w := newStage(t)
	w.pool("p", label("a", "1"), taint("b", "2"))
	w.converge()
	n := w.node("n")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: nodesv1.UninitializedTaint, Effect: corev1.TaintEffectNoSchedule}}
	})
	w.converge()
	wantTaints(t, reload(w, n), nodesv1.UninitializedTaint+":NoSchedule")

	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels[nodesv1.RoleLabel(w.name("p"))] = "" })
	before := w.Writes()
	w.SettleKey(t, w.nodes, types.NamespacedName{Name: n.Name})
	if got := w.Writes() - before; got != 1 {
		t.Errorf("joining took %d writes of the node, want 1", got)
	}
	wantTaints(t, reload(w, n), "b=2:NoSchedule")
	if got := w.labels(n)["a"]; got != "1" {
		t.Errorf("the node was opened without its labels: %v", n.Labels)
	}
}

func TestNeighborTaintsAreTold(t *testing.T) {
	w := newStage(t)
	w.node("n", "a", "b", "c")
	a := w.pool("a", taint("a", "1"))
	w.pool("b", taint("z", "1"), taint("b", "1"))
	w.pool("c", taint("b", "1"))
	alone := w.pool("d", taint("d", "1"))
	w.converge()
	w.Get(t, a)
	if diff := cmp.Diff([]string{"b=1:NoSchedule", "z=1:NoSchedule"}, a.Status.NeighborTaints); diff != "" {
		t.Errorf("neighbors differ (-want +got):\n%s", diff)
	}
	if w.Get(t, alone); len(alone.Status.NeighborTaints) != 0 {
		t.Errorf("a pool that shares no node has neighbors: %v", alone.Status.NeighborTaints)
	}
}

func TestPoolsAreFoundByTheirFields(t *testing.T) {
	w := newStage(t)
	w.pool("a", func(p *nodesv1.NodePool) { p.Spec.Handler, p.Spec.Priority = "fields-kata", 7 })
	w.pool("b", func(p *nodesv1.NodePool) {
		p.Spec.Handler, p.Spec.Overwrite, p.Spec.DryRun = "fields-crun", nodesv1.OverwriteAlways, true
	})
	w.converge()
	for selector, want := range map[string]string{
		"spec.handler": "fields-kata", "spec.priority": "7", "status.handler": "fields-kata",
	} {
		if got := w.found(client.MatchingFields{selector: want}); !slices.Equal(got, []string{w.name("a")}) {
			t.Errorf("%s=%s finds %v", selector, want, got)
		}
	}
	got := w.found(client.MatchingFields{
		"spec.dryRun": "true", "spec.handler": "fields-crun", "spec.overwrite": "Always", "spec.deletionPolicy": "Clean",
	})
	if !slices.Equal(got, []string{w.name("b")}) {
		t.Errorf("four fields find %v", got)
	}
}

// found returns the names of the test's pools that the API server finds.
func (w *stage) found(options ...client.ListOption) []string {
	w.t.Helper()
	list := &nodesv1.NodePoolList{}
	if err := w.Live.List(w.t.Context(), list, options...); err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		if strings.HasPrefix(list.Items[i].Name, w.prefix) {
			names = append(names, list.Items[i].Name)
		}
	}
	return names
}

func bounded(concurrent string, edits ...func(*nodesv1.Rollout)) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) {
		p.Spec.Rollout = &nodesv1.Rollout{MaxConcurrent: intstr.Parse(concurrent)}
		for _, edit := range edits {
			edit(p.Spec.Rollout)
		}
	}
}

// followers returns how many nodes have the value of the label.
func (w *stage) followers(nodes []*corev1.Node, value string) int {
	w.t.Helper()
	count := 0
	for _, n := range nodes {
		if w.labels(n)["a"] == value {
			count++
		}
	}
	return count
}

func (w *stage) manyNodes(count int, pool string) []*corev1.Node {
	w.t.Helper()
	var nodes []*corev1.Node
	for i := range count {
		nodes = append(nodes, w.node(strconv.Itoa(i), pool))
	}
	return nodes
}

// pass lets the pool controller look once, and then all nodes follow that may.
func (w *stage) pass(pool *nodesv1.NodePool, nodes []*corev1.Node) {
	w.t.Helper()
	if _, err := w.Reconcile(w.t, w.pools, types.NamespacedName{Name: pool.Name}); err != nil {
		w.t.Fatal(err)
	}
	for _, n := range nodes {
		w.SettleKey(w.t, w.nodes, types.NamespacedName{Name: n.Name})
	}
}

func TestRolloutIsBounded(t *testing.T) {
	w := newStage(t)
	nodes := w.manyNodes(5, "p")
	pool := w.pool("p", label("a", "1"), bounded("40%"))
	w.pass(pool, nodes)
	for _, want := range []int{2, 4, 5} {
		if got := w.followers(nodes, "1"); got != want {
			t.Errorf("%d nodes carry the label, want %d", got, want)
		}
		w.Get(t, pool)
		wantReason := nodesv1.ReasonRollingOut
		if reason(pool, status.Ready) != wantReason || pool.Status.Rollout.WaitingNodeCount != int32(5-want) {
			t.Errorf("status is %+v", pool.Status)
		}
		w.pass(pool, nodes)
	}
	w.converge()
	w.Get(t, pool)
	if pool.Status.Rollout != nil || reason(pool, nodesv1.ConditionRolledOut) != nodesv1.ReasonRolledOut ||
		!meta.IsStatusConditionTrue(pool.Status.Conditions, status.Ready) {
		t.Errorf("status is %+v", pool.Status)
	}

	before := w.Writes()
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.Labels["a"] = "2" })
	for _, n := range nodes { // they learn of the change before the pool controller does
		w.SettleKey(t, w.nodes, types.NamespacedName{Name: n.Name})
	}
	if got := w.Writes() - before; got != 0 {
		t.Errorf("%d writes before any batch began", got)
	}
	w.converge()
	if got := w.followers(nodes, "2"); got != 5 {
		t.Errorf("%d nodes follow in the end", got)
	}
}

func TestRolloutGoesOnWhereItStoodAfterARestart(t *testing.T) {
	w := newStage(t)
	nodes := w.manyNodes(3, "p")
	pool := w.pool("p", label("a", "1"), bounded("1", func(r *nodesv1.Rollout) { r.PauseSeconds = 60 }))
	w.converge()
	if got := w.followers(nodes, "1"); got != 1 {
		t.Fatalf("%d nodes carry the label, want 1", got)
	}
	w.Get(t, pool)
	if reason(pool, nodesv1.ConditionRolledOut) != nodesv1.ReasonRolloutPausing {
		t.Errorf("conditions are %+v", pool.Status.Conditions)
	}
	restarted := w.restart()
	restarted.converge()
	if got := w.followers(nodes, "1"); got != 1 {
		t.Errorf("after a restart %d nodes carry the label, want 1", got)
	}
	result, err := restarted.Reconcile(t, restarted.pools, types.NamespacedName{Name: pool.Name})
	if err != nil || result.RequeueAfter <= 0 {
		t.Errorf("nobody comes back after the pause: %+v, %v", result, err)
	}
	w.Clock.Step(time.Minute)
	restarted.converge()
	if got := w.followers(nodes, "1"); got != 2 {
		t.Errorf("after the pause %d nodes carry the label, want 2", got)
	}
}

// Each batch began with the first node by name. One that another writer changed during each pause was in every batch, and no other node followed.
func TestANodeThatIsChangedAgainTakesEveryBatch(t *testing.T) {
	w := newStage(t)
	nodes := w.manyNodes(3, "p")
	w.pool("p", label("a", "1"), bounded("1", func(r *nodesv1.Rollout) { r.PauseSeconds = 60 }))
	w.converge()
	for range nodes {
		testkit.Edit(t, w.Harness, nodes[0], func(n *corev1.Node) { n.Labels["a"] = "another" })
		w.converge()
		w.Clock.Step(time.Minute)
		w.converge()
	}
	if got := w.followers(nodes[1:], "1"); got != 2 {
		t.Errorf("%d of the other nodes follow, want both", got)
	}
}

func TestRolloutStopsWhileTooManyAreUnavailable(t *testing.T) {
	w := newStage(t)
	nodes := w.manyNodes(3, "p")
	testkit.EditStatus(t, w.Harness, nodes[2], func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse })
	pool := w.pool("p", label("a", "1"), bounded("1", func(r *nodesv1.Rollout) { r.MaxUnavailable = new(intstr.FromInt32(0)) }))
	w.converge()
	w.Get(t, pool)
	if w.followers(nodes, "1") != 0 || reason(pool, status.Ready) != nodesv1.ReasonTooManyUnavailable {
		t.Errorf("conditions are %+v", pool.Status.Conditions)
	}
	testkit.EditStatus(t, w.Harness, nodes[2], func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionTrue })
	w.converge()
	if got := w.followers(nodes, "1"); got != 3 {
		t.Errorf("%d nodes carry the label", got)
	}
}

func draining(seconds int32) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) {
		p.Spec.Drain = &nodesv1.Drain{Policy: nodesv1.DrainEvict, TimeoutSeconds: &seconds}
	}
}

// budget protects the pod.
func (w *stage) budget(pod *corev1.Pod) *policyv1.PodDisruptionBudget {
	w.t.Helper()
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: pod.Labels},
		},
	}
	w.Create(w.t, budget)
	return budget
}

// chooses makes a pod one of the pool's, by RuntimeClass or by label.
func chooses(pool *nodesv1.NodePool, byLabel bool) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": p.Name}
		if byLabel {
			p.Labels[nodesv1.PoolLabel] = pool.Name
			p.Spec.NodeSelector = map[string]string{nodesv1.MemberLabel(pool.Name): ""}
			return
		}
		p.Spec.RuntimeClassName = &pool.Name
	}
}

// terminate does what a kubelet does with a pod that is asked to go, and reports whether it was.
func (w *stage) terminate(pod *corev1.Pod) bool {
	w.t.Helper()
	if !w.Get(w.t, pod) || pod.DeletionTimestamp == nil {
		return false
	}
	if err := w.Live.Delete(w.t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		w.t.Fatal(err)
	}
	return true
}

func TestLeavingNodeIsDrainedOfThePoolsPods(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), taint("b", "2"), draining(0))
	w.converge()
	classed := w.pod("classed", n, chooses(pool, false))
	guarded := w.pod("guarded", n, chooses(pool, true))
	budget := w.budget(guarded)
	bystander := w.pod("bystander", n)
	daemon := w.pod("daemon", n, chooses(pool, false), func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d", Controller: new(true),
		}}
	})
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.converge()

	// The membership is gone, so that nothing comes back; the rest stays until the node is empty.
	wantLabels(t, w.labels(n), map[string]string{"a": "1"})
	wantTaints(t, n, "b=2:NoSchedule")
	w.Get(t, pool)
	if reason(pool, status.Ready) != nodesv1.ReasonDrainBlocked || pool.Status.Draining[0].PodsLeft != 2 ||
		!slices.Equal(pool.Status.Draining[0].Blocked, []string{guarded.Namespace + "/" + guarded.Name}) {
		t.Errorf("status is %+v", pool.Status)
	}
	said := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.ConditionDrained).Message
	if !strings.HasSuffix(said, "; the API server says: Cannot evict pod as it would violate the pod's disruption budget.") {
		t.Errorf("Drained says %q, want the answer of the API server", said)
	}
	if !w.terminate(classed) || w.terminate(guarded) || w.terminate(bystander) || w.terminate(daemon) {
		t.Error("the wrong pods were evicted")
	}
	if reasons := w.Events.Reasons(); !slices.Contains(reasons, nodesv1.ReasonPodsEvicted) || !slices.Contains(reasons, nodesv1.ReasonDrainBlocked) {
		t.Errorf("events are %v", reasons)
	}

	if err := w.Live.Delete(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	w.converge()
	if !w.terminate(guarded) {
		t.Fatal("the pod was not evicted when its budget was gone")
	}
	w.converge()
	wantLabels(t, w.labels(n), nil)
	wantTaints(t, n)
	w.Get(t, pool)
	if len(pool.Status.Draining) != 0 || !meta.IsStatusConditionTrue(pool.Status.Conditions, status.Ready) {
		t.Errorf("status is %+v", pool.Status)
	}
}

// TestPodsOfAForeignRuntimeClassAreEvicted: a GPU operator had its RuntimeClass before there was a pool of that name. Its pods did not choose the pool.
func TestPodsOfAForeignRuntimeClassAreEvicted(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	w.Create(t, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: w.name("p")}, Handler: "nvidia"})
	pool := w.pool("p", label("a", "1"), draining(0))
	w.converge()
	foreign := w.pod("foreign", n, chooses(pool, false))
	own := w.pod("own", n, chooses(pool, true))
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.converge()
	if w.terminate(foreign) || !w.terminate(own) {
		t.Error("the wrong pods were evicted")
	}
	w.converge()
	wantLabels(t, w.labels(n), nil)
}

func TestDrainEndsWithItsTime(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), draining(30))
	w.converge()
	pod := w.pod("guarded", n, chooses(pool, false))
	w.budget(pod)
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{"a": "1"})
	restarted := w.restart()
	w.Clock.Step(30 * time.Second)
	restarted.converge()
	wantLabels(t, w.labels(n), map[string]string{"a": "1"}) // it asks once more
	restarted.converge()
	wantLabels(t, w.labels(n), nil)
	if w.terminate(pod) {
		t.Error("the pod was evicted against its budget")
	}
	if reasons := w.Events.Reasons(); !slices.Contains(reasons, nodesv1.ReasonDrainTimedOut) {
		t.Errorf("events are %v", reasons)
	}
}

// A drain whose time passed while its pool was paused ended when the pool went on, although what had been in its way was gone.
func TestAPausedDrainAsksOnceMore(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), draining(30))
	w.converge()
	pod := w.pod("guarded", n, chooses(pool, false))
	budget := w.budget(pod)
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.converge()
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Annotations = map[string]string{status.PausedAnnotation: "true"} })
	w.converge()
	w.Clock.Step(time.Hour)
	must(t, w.Live.Delete(t.Context(), budget))
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Annotations = nil })
	w.converge()
	if !w.terminate(pod) {
		t.Error("the pod is left on the node, and nobody asked for it")
	}
	w.converge()
	wantLabels(t, w.labels(n), nil)
}

// heldUp returns a node that has left its pool and cannot be drained, because a budget protects a pod on it.
func (w *stage) heldUp() (*corev1.Node, *nodesv1.NodePool, *corev1.Pod, *policyv1.PodDisruptionBudget) {
	w.t.Helper()
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), draining(0))
	w.converge()
	pod := w.pod("guarded", n, chooses(pool, false))
	budget := w.budget(pod)
	testkit.Edit(w.t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.converge()
	return n, pool, pod, budget
}

// A node had the member label that an earlier pool of the name gave and the present one does not: its drain never began, and its time never ended.
func TestNodeWithAnotherMemberLabelOfItsPoolIsDrained(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), draining(60))
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels[nodesv1.AddressLabel(pool.Name)] = "" })
	w.converge()
	pod := w.pod("user", n, chooses(pool, true))
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.converge()
	if !w.terminate(pod) {
		t.Fatal("the pod is not evicted")
	}
	w.Clock.Step(time.Second)
	w.converge()
	wantLabels(t, w.labels(n), nil)
	if w.Get(t, pool); len(pool.Status.Draining) != 0 {
		t.Errorf("status is %+v", pool.Status)
	}
}

func TestNodeThatComesBackIsNoLongerDrained(t *testing.T) {
	w := newStage(t)
	n, pool, pod, budget := w.heldUp()
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels[nodesv1.RoleLabel(pool.Name)] = "" })
	w.converge()
	if err := w.Live.Delete(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{"a": "1", nodesv1.MemberLabel(pool.Name): ""})
	w.Get(t, pool)
	if w.terminate(pod) || len(pool.Status.Draining) != 0 || !meta.IsStatusConditionTrue(pool.Status.Conditions, status.Ready) {
		t.Errorf("status is %+v", pool.Status)
	}
}

// One node whose pod has a budget took an hour to drain, and for an hour the brake held no other node.
func TestAcknowledgementIsNotForNodesThatLeaveLater(t *testing.T) {
	w := newStage(t)
	nodes := w.manyNodes(8, "p")
	pool := w.pool("p", label("a", "1"), draining(0))
	w.converge()
	w.budget(w.pod("guarded", nodes[0], chooses(pool, false)))
	strip := func(list []*corev1.Node) {
		for _, n := range list {
			testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
		}
		w.converge()
		w.Get(t, pool)
	}
	strip(nodes[:3])
	testkit.Edit(t, w.Harness, pool, acknowledge)
	w.converge()
	if got := w.followers(nodes, "1"); got != 6 {
		t.Fatalf("%d nodes carry the label, want the members and the one that is being drained", got)
	}

	strip(nodes[3:])
	brake := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.ConditionSafetyBrake)
	if brake.Reason != nodesv1.ReasonTooManyLeaving || !strings.HasPrefix(brake.Message, "5 of the 5 nodes") || pool.Annotations[nodesv1.AcknowledgeAnnotation] != "" {
		t.Errorf("the brake says %q, and the annotations are %v", brake.Message, pool.Annotations)
	}
	if got := w.followers(nodes, "1"); got != 6 || len(pool.Status.Draining) != 1 {
		t.Errorf("%d nodes carry the label, and %d are being drained", got, len(pool.Status.Draining))
	}
	testkit.Edit(t, w.Harness, pool, acknowledge)
	w.converge()
	if got := w.followers(nodes, "1"); got != 1 {
		t.Errorf("%d nodes carry the label when the others may leave, want the one that is being drained", got)
	}
}

func TestDeletedPoolIsDrained(t *testing.T) {
	w := newStage(t)
	nodes := w.manyNodes(4, "p")
	pool := w.pool("p", draining(0)) // nothing but the membership
	w.converge()
	pod := w.pod("user", nodes[1], chooses(pool, false))
	if err := w.Live.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.converge()
	if !w.Get(t, pool) || reason(pool, status.Ready) != nodesv1.ReasonDraining {
		t.Fatalf("conditions are %+v", pool.Status.Conditions)
	}
	if !w.terminate(pod) {
		t.Fatal("the pod was not evicted")
	}
	w.converge()
	if w.Get(t, pool) {
		t.Errorf("the pool is left: %+v", pool.Status)
	}
}

func TestDeletedPoolIsNotDrainedWhenSomebodyInsists(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), draining(0), func(p *nodesv1.NodePool) {
		p.Annotations = map[string]string{nodesv1.ForceDeleteAnnotation: "true"}
	})
	w.converge()
	pod := w.pod("user", n, chooses(pool, false))
	if err := w.Live.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.converge()
	if w.Get(t, pool) || w.terminate(pod) || len(w.labels(n)) != 0 {
		t.Error("the pool is left, or its pod was evicted")
	}
}
