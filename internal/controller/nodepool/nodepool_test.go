// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/controller/drain"
	"github.com/windlass-operator/windlass/internal/controller/node"
	"github.com/windlass-operator/windlass/internal/controller/nodepool"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// stage is a harness with the controllers of a pool, and names that no other test uses.
type stage struct {
	*testkit.Harness
	controllers

	t         *testing.T
	prefix    string
	poolNames []string
	nodeNames []string
}

// controllers are those that share the work on pools in one process.
type controllers struct {
	pools  *nodepool.Reconciler
	nodes  *node.Reconciler
	drains *drain.Reconciler
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	h := testkit.New(t, kube.IndexNodes(membership.Concerned))
	prefix := strings.ToLower(strings.TrimPrefix(t.Name(), "Test"))
	prefix = strings.NewReplacer("/", "-", "_", "-", ",", "").Replace(prefix)
	if len(prefix) > 40 {
		prefix = prefix[:40]
	}
	w := &stage{Harness: h, t: t, prefix: prefix}
	w.controllers = w.newControllers(h.Client)
	return w
}

// newControllers returns controllers that have just started.
func (w *stage) newControllers(c client.Client) controllers {
	w.t.Helper()
	clearances, drains := &clearance.Clearances{}, &clearance.Drains{}
	transport, err := rest.HTTPClientFor(w.Config)
	must(w.t, err)
	evict, err := kube.NewEvict(w.Config, transport)
	must(w.t, err)
	pools := nodepool.New(c, w.Live, w.Events, clearances, drains, w.Clock.Now, "windlass-system")
	return controllers{
		pools:  pools,
		nodes:  node.New(c, w.Events, clearances, pools, w.Clock.Now),
		drains: drain.New(c, w.Live, evict, w.Events, drains, w.Clock.Now),
	}
}

// restart returns the same stage with controllers that have just started.
func (w *stage) restart() *stage {
	w.t.Helper()
	again := *w
	again.controllers = w.newControllers(w.Client)
	return &again
}

func (w *stage) name(short string) string { return w.prefix + "-" + short }

// pool creates a pool with the labels a=<name> and the taint.
func (w *stage) pool(short string, edits ...func(*nodesv1.NodePool)) *nodesv1.NodePool {
	w.t.Helper()
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: w.name(short)}}
	for _, edit := range edits {
		edit(pool)
	}
	w.Create(w.t, pool)
	w.poolNames = append(w.poolNames, pool.Name)
	return pool
}

// node creates a node in the named pools.
func (w *stage) node(short string, pools ...string) *corev1.Node {
	w.t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: w.name(short), Labels: map[string]string{"kubernetes.io/os": "linux"},
	}}
	for _, pool := range pools {
		n.Labels[nodesv1.RoleLabel(w.name(pool))] = "true"
	}
	w.Create(w.t, n)
	// Admission taints a new node as not ready, and no controller runs here to take that off again.
	testkit.Edit(w.t, w.Harness, n, func(n *corev1.Node) { n.Spec.Taints = nil })
	testkit.EditStatus(w.t, w.Harness, n, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
		n.Status.Capacity = n.Status.Allocatable
	})
	w.nodeNames = append(w.nodeNames, n.Name)
	return n
}

// converge lets all controllers come to rest. Drains come first, because what they do is not counted as a write.
func (w *stage) converge() {
	w.t.Helper()
	var targets []testkit.Target
	add := func(r reconcile.Reconciler, names []string) {
		for _, name := range names {
			targets = append(targets, testkit.Target{Reconciler: r, Key: types.NamespacedName{Name: name}})
		}
	}
	add(w.drains, w.nodeNames)
	add(w.nodes, w.nodeNames)
	add(w.pools, w.poolNames)
	w.Converge(w.t, targets...)
	list := &nodesv1.NodePoolList{}
	if err := w.Live.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		if strings.HasPrefix(list.Items[i].Name, w.prefix+"-") {
			testkit.CheckContract(w.t, &list.Items[i])
		}
	}
}

// labels returns the node's labels without those that every test node has.
func (w *stage) labels(n *corev1.Node) map[string]string {
	w.t.Helper()
	w.Get(w.t, n)
	out := maps.Clone(n.Labels)
	maps.DeleteFunc(out, func(key, _ string) bool {
		return key == "kubernetes.io/os" || strings.HasPrefix(key, nodesv1.RoleLabelPrefix)
	})
	return out
}

func (w *stage) class(pool string) *nodev1.RuntimeClass {
	w.t.Helper()
	class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: pool}}
	if !w.Get(w.t, class) {
		w.t.Fatalf("there is no RuntimeClass %s", pool)
	}
	return class
}

func label(key, value string) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) {
		if p.Spec.Labels == nil {
			p.Spec.Labels = map[string]nodesv1.LabelValue{}
		}
		p.Spec.Labels[key] = nodesv1.LabelValue(value)
	}
}

func taint(key, value string) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) {
		p.Spec.Taints = append(p.Spec.Taints, nodesv1.Taint{Key: key, Value: value, Effect: corev1.TaintEffectNoSchedule})
	}
}

func reason(pool *nodesv1.NodePool, conditionType string) string {
	if condition := meta.FindStatusCondition(pool.Status.Conditions, conditionType); condition != nil {
		return condition.Reason
	}
	return ""
}

func wantLabels(t *testing.T, got map[string]string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("labels differ (-want +got):\n%s", diff)
	}
}

func wantTaints(t *testing.T, n *corev1.Node, want ...string) {
	t.Helper()
	got := []string{}
	for _, taint := range n.Spec.Taints {
		got = append(got, taint.ToString())
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("taints differ (-want +got):\n%s", diff)
	}
}

func TestArticle(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "master")
	pool := w.pool("master", label("node-pool.lailin.xyz/master", "8"), label("node-pool.lailin.xyz/test", "2"),
		taint("node-pool.lailin.xyz", "master"), func(p *nodesv1.NodePool) { p.Spec.Handler = "runc" })
	w.converge()

	member := nodesv1.MemberLabel(pool.Name)
	wantLabels(t, w.labels(n), map[string]string{
		"node-pool.lailin.xyz/master": "8", "node-pool.lailin.xyz/test": "2", member: "",
	})
	wantTaints(t, n, "node-pool.lailin.xyz=master:NoSchedule")
	class := w.class(pool.Name)
	want := &nodev1.Scheduling{
		NodeSelector: map[string]string{"node-pool.lailin.xyz/master": "8", "node-pool.lailin.xyz/test": "2", member: ""},
		Tolerations: []corev1.Toleration{{
			Key: "node-pool.lailin.xyz", Operator: corev1.TolerationOpEqual, Value: "master", Effect: corev1.TaintEffectNoSchedule,
		}},
	}
	if diff := cmp.Diff(want, class.Scheduling); diff != "" {
		t.Errorf("RuntimeClass differs (-want +got):\n%s", diff)
	}
	w.Get(t, pool)
	if !metav1.IsControlledBy(class, pool) || class.Handler != "runc" {
		t.Errorf("the RuntimeClass has handler %q and owners %v", class.Handler, class.OwnerReferences)
	}

	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) {
		p.Spec.Labels = map[string]nodesv1.LabelValue{"node-pool.lailin.xyz/master": "10"}
	})
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{"node-pool.lailin.xyz/master": "10", member: ""})
	if got := w.class(pool.Name).Scheduling.NodeSelector; len(got) != 2 || got["node-pool.lailin.xyz/master"] != "10" {
		t.Errorf("the RuntimeClass did not follow: %v", got)
	}

	if err := w.Live.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.converge()
	wantLabels(t, w.labels(n), nil)
	wantTaints(t, n)
	if n.Annotations[nodesv1.AppliedAnnotation] != "" || n.Labels[nodesv1.RoleLabel(pool.Name)] != "true" {
		t.Errorf("after deletion the node has annotations %v and labels %v", n.Annotations, n.Labels)
	}
	if w.Get(t, pool) || w.Get(t, class) {
		t.Error("the pool or its RuntimeClass is still there")
	}
}

func TestStatusCountsAndSums(t *testing.T) {
	w := newStage(t)
	w.node("a", "p", "q")
	b := w.node("b", "p")
	pool := w.pool("p", label("x", "y"))
	w.pool("q")
	testkit.EditStatus(t, w.Harness, b, func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse })
	w.converge()
	w.Get(t, pool)
	got := pool.Status
	if got.NodeCount != 2 || got.ReadyNodeCount != 1 || got.SyncedNodeCount != 2 || got.SharedNodeCount != 1 || got.Handler != "runc" {
		t.Errorf("status is %+v", got)
	}
	if cpu := got.Allocatable[corev1.ResourceCPU]; cpu.String() != "8" {
		t.Errorf("allocatable CPU is %s, want 8", cpu.String())
	}
	if !meta.IsStatusConditionTrue(got.Conditions, status.Ready) {
		t.Errorf("conditions are %+v", got.Conditions)
	}
}

func TestNodeCountReturnsToZeroWhenTheLastNodeLeaves(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p")
	w.converge()
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.converge()
	w.Get(t, pool)
	if pool.Status.NodeCount != 0 || len(pool.Status.Allocatable) != 0 || reason(pool, nodesv1.ConditionNodesSynced) != nodesv1.ReasonNoNodes {
		t.Errorf("status is %+v", pool.Status)
	}
}

func TestForeignLabelsAndTaintsAreNotWiped(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) {
		n.Labels["nvidia.com/gpu.present"] = "true"
		n.Spec.Taints = []corev1.Taint{{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule}}
	})
	pool := w.pool("p", label("env", "dev"), taint("pool", "p"))
	w.converge()
	wantTaints(t, reload(w, n), "karpenter.sh/disrupted:NoSchedule", "pool=p:NoSchedule")
	if err := w.Live.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{"nvidia.com/gpu.present": "true"})
	wantTaints(t, n, "karpenter.sh/disrupted:NoSchedule")
}

func reload(w *stage, n *corev1.Node) *corev1.Node {
	w.Get(w.t, n)
	return n
}

func TestManyPoolsOnOneNode(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "a", "b")
	a := w.pool("a", label("from-a", "1"), label("both", "same"), taint("a", "1"))
	b := w.pool("b", label("from-b", "1"), label("both", "same"), taint("b", "1"))
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{
		"from-a": "1", "from-b": "1", "both": "same",
		nodesv1.MemberLabel(a.Name): "", nodesv1.MemberLabel(b.Name): "",
	})
	wantTaints(t, n, "a=1:NoSchedule", "b=1:NoSchedule")
	if got := len(w.class(a.Name).Scheduling.Tolerations); got != 2 {
		t.Errorf("a pod of pool a tolerates %d taints of a node that has 2", got)
	}

	if err := w.Live.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{"from-b": "1", "both": "same", nodesv1.MemberLabel(b.Name): ""})
	wantTaints(t, n, "b=1:NoSchedule")
	if got := len(w.class(b.Name).Scheduling.Tolerations); got != 1 {
		t.Errorf("pool b still tolerates %d taints", got)
	}
}

func TestConflictBetweenPoolsIsDecidedAndTold(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "a", "b")
	w.pool("a", label("env", "a"))
	loser := w.pool("b", label("env", "b"))
	w.converge()
	if got := w.labels(n)["env"]; got != "a" {
		t.Errorf("env is %q, want a: of two pools of one age the first by name wins", got)
	}
	w.Get(t, loser)
	condition := meta.FindStatusCondition(loser.Status.Conditions, nodesv1.ConditionConflicted)
	want := fmt.Sprintf("label env is held by pool %s on 1 node", w.name("a"))
	if condition.Status != metav1.ConditionTrue || condition.Message != want {
		t.Errorf("Conflicted is %s: %q, want %q", condition.Status, condition.Message, want)
	}
	if loser.Status.ConflictedNodeCount != 1 || loser.Status.SyncedNodeCount != 0 {
		t.Errorf("status is %+v", loser.Status)
	}
}

func TestForeignValueOfAPoolKeyStaysAndIsTold(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { n.Labels["env"] = "prod" })
	pool := w.pool("p", label("env", "dev"), func(p *nodesv1.NodePool) { p.Spec.Overwrite = nodesv1.OverwriteNever })
	w.converge()
	if got := w.labels(n)["env"]; got != "prod" {
		t.Errorf("the foreign label is now %q", got)
	}
	w.Get(t, pool)
	if !meta.IsStatusConditionTrue(pool.Status.Conditions, status.Stalled) {
		t.Errorf("conditions are %+v", pool.Status.Conditions)
	}
	if reasons := w.Events.Reasons(); !slices.Contains(reasons, nodesv1.ReasonKeysHeldElsewhere) {
		t.Errorf("events are %v", reasons)
	}
}

func TestDriftIsRepairedAndTold(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	w.pool("p", label("env", "dev"), taint("pool", "p"))
	w.converge()
	w.Events.Take()
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) {
		n.Labels["env"] = "changed"
		n.Spec.Taints = nil
	})
	w.converge()
	if got := w.labels(n)["env"]; got != "dev" {
		t.Errorf("env is %q", got)
	}
	wantTaints(t, n, "pool=p:NoSchedule")
	if reasons := w.Events.Reasons(); !slices.Contains(reasons, nodesv1.ReasonDriftRepaired) {
		t.Errorf("events are %v", reasons)
	}
}

func TestANodeIsWrittenOnce(t *testing.T) {
	w := newStage(t)
	pool := w.pool("p", label("a", "1"), label("b", "2"), taint("c", "3"))
	w.converge()
	n := w.node("n", "p")
	before := w.Writes()
	w.SettleKey(t, w.nodes, types.NamespacedName{Name: n.Name})
	if got := w.Writes() - before; got != 1 {
		t.Errorf("joining pool %s took %d writes of the node, want 1", pool.Name, got)
	}
}

func TestANodeInTwoNewPoolsIsWrittenOnce(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "a", "b")
	a, b := w.pool("a", label("a", "1")), w.pool("b", label("b", "1"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: a.Name})
	key := types.NamespacedName{Name: n.Name}
	result, err := w.Reconcile(t, w.nodes, key)
	if err != nil || result.RequeueAfter <= 0 || len(w.labels(n)) != 0 {
		t.Errorf("the node does not wait for its second pool: %+v, %v, labels %v", result, err, w.labels(n))
	}
	w.SettleKey(t, w.pools, types.NamespacedName{Name: b.Name})
	before := w.Writes()
	w.SettleKey(t, w.nodes, key)
	if got := w.Writes() - before; got != 1 || w.labels(n)["a"] != "1" || w.labels(n)["b"] != "1" {
		t.Errorf("joining both took %d writes, labels %v", got, w.labels(n))
	}
}

func TestAPoolThatDoesNotBeginHoldsUpNobodyForLong(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "a", "b")
	a := w.pool("a", label("a", "1"))
	w.pool("b", label("b", "1"))
	w.SettleKey(t, w.pools, types.NamespacedName{Name: a.Name})
	key := types.NamespacedName{Name: n.Name}
	w.SettleKey(t, w.nodes, key)
	w.Clock.Step(2 * time.Second)
	w.SettleKey(t, w.nodes, key)
	if got := w.labels(n); got["a"] != "1" || got["b"] != "" {
		t.Errorf("labels are %v", got)
	}
}

func TestNothingIsPutOnANodeBeforeTheFinalizer(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	w.pool("p", label("a", "1"))
	w.SettleKey(t, w.nodes, types.NamespacedName{Name: n.Name})
	wantLabels(t, w.labels(n), nil)
}

func TestForeignRuntimeClassIsLeftAlone(t *testing.T) {
	w := newStage(t)
	foreign := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: w.name("p")}, Handler: "kata"}
	w.Create(t, foreign)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"))
	w.converge()
	if got := w.class(pool.Name); got.Handler != "kata" || len(got.OwnerReferences) != 0 || got.Scheduling != nil {
		t.Errorf("the foreign RuntimeClass has been changed: %+v", got)
	}
	if got := w.labels(n)["a"]; got != "1" {
		t.Errorf("the node did not get its labels: %v", w.labels(n))
	}
	w.Get(t, pool)
	if reason(pool, nodesv1.ConditionRuntimeClassReady) != nodesv1.ReasonNameConflict {
		t.Errorf("conditions are %+v", pool.Status.Conditions)
	}

	if err := w.Live.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	w.converge()
	w.Get(t, pool)
	if !meta.IsStatusConditionTrue(pool.Status.Conditions, status.Ready) || w.class(pool.Name).Handler != "runc" {
		t.Errorf("the pool did not recover: %+v", pool.Status.Conditions)
	}
}

func TestHandlerChangeRecreatesTheRuntimeClass(t *testing.T) {
	w := newStage(t)
	pool := w.pool("p")
	w.converge()
	before := w.class(pool.Name).UID
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.Handler = "crun" })
	w.converge()
	after := w.class(pool.Name)
	if after.Handler != "crun" || after.UID == before {
		t.Errorf("the RuntimeClass has handler %s and UID %s, before %s", after.Handler, after.UID, before)
	}
	w.Get(t, pool)
	if pool.Status.Handler != "crun" {
		t.Errorf("status.handler is %q", pool.Status.Handler)
	}
}

func TestRuntimeClassDriftIsRepaired(t *testing.T) {
	w := newStage(t)
	pool := w.pool("p", taint("a", "1"))
	w.converge()
	testkit.Edit(t, w.Harness, w.class(pool.Name), func(c *nodev1.RuntimeClass) {
		c.Scheduling.Tolerations = nil
		c.Scheduling.NodeSelector["extra"] = "key"
	})
	w.converge()
	got := w.class(pool.Name).Scheduling
	if len(got.Tolerations) != 1 || got.NodeSelector["extra"] != "" {
		t.Errorf("scheduling is %+v", got)
	}
}

func TestTolerationsComeBeforeTaintsAndGoAfterThem(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", taint("key", "old"))
	w.converge()
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.Taints[0].Value = "new" })

	w.SettleKey(t, w.nodes, types.NamespacedName{Name: n.Name})
	wantTaints(t, reload(w, n), "key=old:NoSchedule")
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	if got := len(w.class(pool.Name).Scheduling.Tolerations); got != 2 {
		t.Errorf("before the nodes follow %d values are tolerated, want the old and the new one", got)
	}
	w.converge()
	wantTaints(t, reload(w, n), "key=new:NoSchedule")
	if got := w.class(pool.Name).Scheduling.Tolerations; len(got) != 1 || got[0].Value != "new" {
		t.Errorf("after the nodes followed the tolerations are %v", got)
	}
}

func TestLegacyFinalizerIsRemovedAfterCleaning(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), func(p *nodesv1.NodePool) { p.Finalizers = []string{nodesv1.LegacyFinalizer} })
	w.converge()
	if err := w.Live.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	if !w.Get(t, pool) {
		t.Fatal("the pool went before its node was cleaned")
	}
	w.converge()
	if w.Get(t, pool) || len(w.labels(n)) != 0 {
		t.Errorf("the pool or its labels are left: %v", w.labels(n))
	}
}

func TestDeletionGoesOnWhenANodeVanishes(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"))
	w.converge()
	if err := w.Live.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.SettleKey(t, w.pools, types.NamespacedName{Name: pool.Name})
	if err := w.Live.Delete(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	w.converge()
	if w.Get(t, pool) {
		t.Error("the pool is still there")
	}
}

func TestPausedPoolTouchesNothingAndStillCounts(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"))
	w.converge()
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) {
		p.Annotations = map[string]string{status.PausedAnnotation: "true"}
		p.Spec.Labels["a"] = "2"
	})
	other := w.node("other", "p")
	w.converge()
	if w.labels(n)["a"] != "1" || len(w.labels(other)) != 0 {
		t.Errorf("labels are %v and %v", w.labels(n), w.labels(other))
	}
	w.Get(t, pool)
	if pool.Status.NodeCount != 2 || !meta.IsStatusConditionTrue(pool.Status.Conditions, status.Paused) {
		t.Errorf("status is %+v", pool.Status)
	}
	synced := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.ConditionNodesSynced)
	if want := fmt.Sprintf("waiting for 2 nodes: %s, %s", n.Name, other.Name); synced.Reason != nodesv1.ReasonSyncingNodes || synced.Message != want {
		t.Errorf("it says of what it does not write: %+v, want %s", synced, want)
	}
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Annotations = nil })
	w.converge()
	if w.labels(n)["a"] != "2" || w.labels(other)["a"] != "2" {
		t.Errorf("labels are %v and %v", w.labels(n), w.labels(other))
	}
}

func TestAForgedRecordTakesNoTaintAway(t *testing.T) {
	w := newStage(t)
	n := w.node("n")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "protected", Effect: corev1.TaintEffectNoSchedule}}
		n.Annotations = map[string]string{
			nodesv1.AppliedAnnotation: fmt.Sprintf(`{%q:{"taints":["protected:NoSchedule"]}}`, w.name("p")),
		}
	})
	w.pool("p", taint("mine", ""))
	w.converge()
	wantTaints(t, reload(w, n), "protected:NoSchedule")
	if reasons := w.Events.Reasons(); !slices.Contains(reasons, nodesv1.ReasonKeysAbandoned) {
		t.Errorf("events are %v", reasons)
	}
}

func TestJoinsAndLeavesAreToldOnceForAll(t *testing.T) {
	w := newStage(t)
	for i := range 5 {
		w.node(strconv.Itoa(i), "p")
	}
	w.pool("p", label("a", "1"))
	w.converge()
	notes := []string{}
	for _, e := range w.Events.Take() {
		if e.Reason == nodesv1.ReasonNodesJoined {
			notes = append(notes, e.Note)
		}
	}
	if diff := cmp.Diff([]string{"5 nodes joined: the pool has 5 nodes"}, notes); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
}

func TestForeignValueIsPutBackWhenTheNodeLeaves(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) {
		n.Labels["env"] = "prod"
		n.Spec.Taints = []corev1.Taint{{Key: "team", Value: "theirs", Effect: corev1.TaintEffectNoSchedule}}
	})
	pool := w.pool("p", label("env", "dev"), taint("team", "ours"))
	w.converge()
	if got := w.labels(n)["env"]; got != "dev" {
		t.Errorf("env is %q", got)
	}
	wantTaints(t, n, "team=ours:NoSchedule")
	w.Get(t, pool)
	if len(pool.Status.Originals) != 1 || pool.Status.Originals[0].Labels["env"] != "prod" {
		t.Errorf("originals are %+v", pool.Status.Originals)
	}

	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{"env": "prod"})
	wantTaints(t, n, "team=theirs:NoSchedule")
	w.Get(t, pool)
	if len(pool.Status.Originals) != 0 {
		t.Errorf("originals are left: %+v", pool.Status.Originals)
	}
}

func TestNodesJoinBySelectorAndBySegment(t *testing.T) {
	w := newStage(t)
	selected, addressed, other := w.node("selected"), w.node("addressed"), w.node("other")
	testkit.Edit(t, w.Harness, selected, func(n *corev1.Node) { n.Labels[w.name("zone")] = "a" })
	testkit.EditStatus(t, w.Harness, addressed, func(n *corev1.Node) {
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.78.1.2"}}
	})
	pool := w.pool("p", label("a", "1"), func(p *nodesv1.NodePool) {
		p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{w.name("zone"): "a"}}
		p.Spec.NodeCIDRs = []nodesv1.CIDR{"10.78.0.0/16"}
	})
	w.converge()
	for _, n := range []*corev1.Node{selected, addressed} {
		if w.labels(n)["a"] != "1" || !hasRole(n, pool.Name) {
			t.Errorf("node %s did not join: %v", n.Name, n.Labels)
		}
	}
	if len(w.labels(other)) != 0 {
		t.Errorf("the other node joined: %v", other.Labels)
	}

	testkit.Edit(t, w.Harness, selected, func(n *corev1.Node) { delete(n.Labels, w.name("zone")) })
	w.converge()
	if w.labels(selected)["a"] != "" || hasRole(selected, pool.Name) {
		t.Errorf("the node did not leave: %v", selected.Labels)
	}
}

func hasRole(n *corev1.Node, pool string) bool {
	_, ok := n.Labels[nodesv1.RoleLabel(pool)]
	return ok
}

func TestSafetyBrakeHoldsNodesUntilItIsAcknowledged(t *testing.T) {
	w := newStage(t)
	nodes := []*corev1.Node{}
	for i := range 4 {
		nodes = append(nodes, w.node(strconv.Itoa(i), "p"))
	}
	pool := w.pool("p", label("a", "1"))
	w.converge()
	for _, n := range nodes[:3] {
		testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	}
	w.converge()
	w.Get(t, pool)
	if !meta.IsStatusConditionTrue(pool.Status.Conditions, nodesv1.ConditionSafetyBrake) ||
		!meta.IsStatusConditionTrue(pool.Status.Conditions, status.Stalled) {
		t.Fatalf("conditions are %+v", pool.Status.Conditions)
	}
	for _, n := range nodes {
		if w.labels(n)["a"] != "1" {
			t.Errorf("node %s was cleaned under the brake", n.Name)
		}
	}

	testkit.Edit(t, w.Harness, pool, acknowledge)
	w.converge()
	for _, n := range nodes[:3] {
		if len(w.labels(n)) != 0 {
			t.Errorf("node %s was not cleaned: %v", n.Name, w.labels(n))
		}
	}
	w.Get(t, pool)
	if pool.Annotations[nodesv1.AcknowledgeAnnotation] != "" {
		t.Error("the acknowledgement is not used up")
	}
	if !meta.IsStatusConditionTrue(pool.Status.Conditions, status.Ready) {
		t.Errorf("conditions are %+v", pool.Status.Conditions)
	}
}

// acknowledge lets the nodes go that the brake holds.
func acknowledge(p *nodesv1.NodePool) {
	p.Annotations = map[string]string{nodesv1.AcknowledgeAnnotation: strconv.FormatInt(p.Generation, 10)}
}

func TestNothingIsRemovedBeforeItIsCounted(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"))
	w.converge()
	testkit.Edit(t, w.Harness, n, func(n *corev1.Node) { delete(n.Labels, nodesv1.RoleLabel(pool.Name)) })
	w.SettleKey(t, w.nodes, types.NamespacedName{Name: n.Name})
	if w.labels(n)["a"] != "1" {
		t.Error("the node was cleaned before anybody counted how many leave")
	}
	w.converge()
	if len(w.labels(n)) != 0 {
		t.Errorf("the node was not cleaned: %v", w.labels(n))
	}
}

func TestDryRunTouchesNoNodeAndReports(t *testing.T) {
	for name, edit := range map[string]func(p *nodesv1.NodePool){
		"alone": func(*nodesv1.NodePool) {},
		"of a rollout, about the nodes of all batches": func(p *nodesv1.NodePool) {
			p.Spec.Rollout = &nodesv1.Rollout{MaxConcurrent: intstr.FromInt32(1)}
		},
	} {
		t.Run(name, func(t *testing.T) { rehearse(t, edit) })
	}
}

func rehearse(t *testing.T, edit func(p *nodesv1.NodePool)) {
	t.Helper()
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), taint("b", "2"), func(p *nodesv1.NodePool) { p.Spec.DryRun = true }, edit)
	w.converge()
	wantLabels(t, w.labels(n), nil)
	w.Get(t, pool)
	want := &nodesv1.DryRunReport{
		AffectedNodes: 1,
		LabelsToSet:   []string{"a=1", nodesv1.MemberLabel(pool.Name) + "="},
		TaintsToAdd:   []string{"b=2:NoSchedule"},
	}
	if diff := cmp.Diff(want, pool.Status.DryRun, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("report differs (-want +got):\n%s", diff)
	}
	if ready := meta.FindStatusCondition(pool.Status.Conditions, status.Ready); ready == nil || ready.Reason != nodesv1.ReasonDryRun {
		t.Errorf("Ready is %+v, want the reason %s", ready, nodesv1.ReasonDryRun)
	}
	if w.Get(t, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}}) {
		t.Error("a dry run wrote a RuntimeClass")
	}
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.DryRun = false })
	w.converge()
	w.Get(t, pool)
	if w.labels(n)["a"] != "1" || pool.Status.DryRun != nil {
		t.Errorf("after the dry run the node has %v and the report is %+v", w.labels(n), pool.Status.DryRun)
	}
}

func TestDeletionPolicyOrphanLeavesLabelsAndTaints(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"), taint("b", "2"), func(p *nodesv1.NodePool) { p.Spec.DeletionPolicy = nodesv1.DeletionOrphan })
	w.converge()
	if err := w.Live.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.Events.Take()
	w.converge()
	wantLabels(t, w.labels(n), map[string]string{"a": "1"})
	wantTaints(t, n, "b=2:NoSchedule")
	note := ""
	for _, e := range w.Events.Take() {
		if e.Reason == nodesv1.ReasonCleaned {
			note = e.Note
		}
	}
	if !strings.HasSuffix(note, "and left its other labels, annotations and taints") {
		t.Errorf("the event says %q", note)
	}
	if w.Get(t, pool) || n.Annotations[nodesv1.AppliedAnnotation] != "" {
		t.Error("the pool or its record is left")
	}
}

func TestDeletionIsHeldWhilePodsNameTheRuntimeClass(t *testing.T) { heldByPods(t, false) }

func TestDeletionInTheForegroundIsHeldByPods(t *testing.T) { heldByPods(t, true) }

func heldByPods(t *testing.T, foreground bool) {
	t.Helper()
	w := newStage(t)
	n := w.node("n", "p")
	pool := w.pool("p", label("a", "1"))
	w.converge()
	pod := w.pod("user", n, func(p *corev1.Pod) { p.Spec.RuntimeClassName = &pool.Name })
	w.pod("stranger", n, func(p *corev1.Pod) { p.Labels = map[string]string{nodesv1.PoolLabel: pool.Name} })
	must(t, w.Live.Delete(t.Context(), pool))
	if foreground { // the garbage collector, which does not run here, begins with this
		must(t, w.Live.Delete(t.Context(), w.class(pool.Name)))
	}
	w.converge()
	w.Get(t, pool)
	if reason(pool, status.Ready) != nodesv1.ReasonInUse || w.labels(n)["a"] != "1" {
		t.Fatalf("conditions are %+v, labels %v", pool.Status.Conditions, w.labels(n))
	}
	said := meta.FindStatusCondition(pool.Status.Conditions, status.Ready).Message
	if want := "1 are left (" + pod.Namespace + "/" + pod.Name + ");"; !strings.Contains(said, want) {
		t.Errorf("Ready says %q, want %q in it", said, want)
	}
	testkit.EditStatus(t, w.Harness, pod, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	w.Clock.Step(15 * time.Second) // until pods are counted again
	w.converge()
	if w.Get(t, pool) || len(w.labels(n)) != 0 {
		t.Errorf("the pool is left, or its labels: %v", w.labels(n))
	}
}

// pod creates a running pod on the node.
func (w *stage) pod(short string, n *corev1.Node, edits ...func(*corev1.Pod)) *corev1.Pod {
	w.t.Helper()
	namespace := w.Namespace(w.t)
	w.Create(w.t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace}})
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: w.name(short), Namespace: namespace},
		Spec: corev1.PodSpec{
			NodeName:   n.Name,
			Containers: []corev1.Container{{Name: "c", Image: "busybox"}},
		},
	}
	for _, edit := range edits {
		edit(pod)
	}
	w.Create(w.t, pod)
	testkit.EditStatus(w.t, w.Harness, pod, func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
	return pod
}

func TestPodsThatANoExecuteTaintDeletesAreCountedFirst(t *testing.T) {
	w := newStage(t)
	n := w.node("n", "p")
	w.pod("bystander", n)
	w.pod("tolerant", n, func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} })
	pool := w.pool("p", func(p *nodesv1.NodePool) {
		p.Spec.Taints = []nodesv1.Taint{{Key: "out", Value: "now", Effect: corev1.TaintEffectNoExecute}}
	})
	w.converge()
	notes := []string{}
	for _, e := range w.Events.Take() {
		if e.Reason == nodesv1.ReasonWouldEvict {
			notes = append(notes, e.Note)
		}
	}
	want := []string{"The pool's new NoExecute taints delete running pods on 1 node that do not tolerate them: 1"}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	w.Get(t, pool)
	if pool.Status.PodsToEvict != 0 {
		t.Errorf("podsToEvict is %d after the taint is on", pool.Status.PodsToEvict)
	}
}

// A dry run said that no pod would be deleted where the taint was not new to the pool, but to the nodes that it would select from then on.
func TestPodsOnFurtherNodesAreInTheDryRun(t *testing.T) {
	w := newStage(t)
	n, further := w.node("n", "p"), w.node("further")
	testkit.Edit(t, w.Harness, further, func(n *corev1.Node) { n.Labels[w.name("zone")] = "a" })
	pool := w.pool("p", func(p *nodesv1.NodePool) {
		p.Spec.Taints = []nodesv1.Taint{{Key: "out", Value: "now", Effect: corev1.TaintEffectNoExecute}}
	})
	w.converge()
	w.pod("stays", n)
	w.pod("bystander", further)
	w.pod("tolerant", further, func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} })
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) {
		p.Spec.DryRun = true
		selecting(w.name("zone"), "a")(p)
	})
	w.converge()
	w.Get(t, pool)
	if got := pool.Status.DryRun; got == nil || got.PodsToEvict != 1 || got.AffectedNodes != 1 {
		t.Errorf("the dry run reports %+v", got)
	}
}

func TestHandlerFollowsWhatTheNodesOffer(t *testing.T) {
	w := newStage(t)
	offer := func(n *corev1.Node, handlers ...string) {
		testkit.EditStatus(t, w.Harness, n, func(n *corev1.Node) {
			n.Status.RuntimeHandlers = nil
			for _, name := range handlers {
				n.Status.RuntimeHandlers = append(n.Status.RuntimeHandlers, corev1.NodeRuntimeHandler{Name: name})
			}
		})
	}
	a, b := w.node("a", "p"), w.node("b", "p")
	offer(a, "", "crun", "kata")
	offer(b, "", "crun")
	pool := w.pool("p")
	w.converge()
	if got := w.class(pool.Name).Handler; got != "crun" {
		t.Errorf("handler is %s, want the only one that both nodes offer", got)
	}
	testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) { p.Spec.Handler = "kata" })
	w.converge()
	w.Get(t, pool)
	condition := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.ConditionHandlerAvailable)
	if condition.Status != metav1.ConditionFalse || !strings.Contains(condition.Message, w.name("b")) {
		t.Errorf("HandlerAvailable is %s: %s", condition.Status, condition.Message)
	}
}

// malformed is a selector that the schema cannot tell from a good one.
func malformed(p *nodesv1.NodePool) {
	p.Spec.NodeSelector = &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "not a label", Operator: metav1.LabelSelectorOpExists}},
	}
}

func TestMalformedSelectorIsTold(t *testing.T) {
	w := newStage(t)
	pool := w.pool("p", malformed)
	w.converge()
	w.Get(t, pool)
	stalled := meta.FindStatusCondition(pool.Status.Conditions, status.Stalled)
	if stalled.Reason != nodesv1.ReasonInvalidSelector || !strings.Contains(stalled.Message, "not a label") {
		t.Errorf("conditions are %+v", pool.Status.Conditions)
	}
}

func TestPoolWithAMalformedSelectorCanBeDeleted(t *testing.T) {
	w := newStage(t)
	labelled, selected := w.node("labelled", "p"), w.node("selected")
	testkit.Edit(t, w.Harness, selected, func(n *corev1.Node) { n.Labels[w.name("zone")] = "a" })
	pool := w.pool("p", label("a", "1"), taint("b", "2"), selecting(w.name("zone"), "a"))
	w.converge()
	testkit.Edit(t, w.Harness, pool, malformed)
	w.converge()
	if got := w.followers([]*corev1.Node{labelled, selected}, "1"); got != 2 {
		t.Errorf("%d nodes carry the pool while its selector cannot be understood, want both", got)
	}
	must(t, w.Live.Delete(t.Context(), pool))
	w.converge()
	for _, n := range []*corev1.Node{labelled, selected} {
		wantLabels(t, w.without(n, w.name("zone")), nil)
		wantTaints(t, n)
	}
	if w.Get(t, pool) {
		t.Errorf("the pool is left: %+v", pool.Status.Conditions)
	}
}

// without returns the labels of the node but that one.
func (w *stage) without(n *corev1.Node, key string) map[string]string {
	w.t.Helper()
	left := w.labels(n)
	delete(left, key)
	return left
}
