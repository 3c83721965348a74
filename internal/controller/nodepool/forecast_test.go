// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// forecast asks the API server what the pool would be, and foresees what follows for the nodes of the stage.
func (w *stage) forecast(pool *nodesv1.NodePool, change func(*nodesv1.NodePool)) *membership.Forecast {
	w.t.Helper()
	wanted := pool.DeepCopy()
	change(wanted)
	if pool.UID == "" {
		must(w.t, w.Live.Create(w.t.Context(), wanted, client.DryRunAll))
	} else {
		must(w.t, w.Live.Update(w.t.Context(), wanted, client.DryRunAll))
	}
	list := &nodesv1.NodePoolList{}
	must(w.t, w.Live.List(w.t.Context(), list))
	list.Items = slices.DeleteFunc(list.Items, func(p nodesv1.NodePool) bool { return p.Name == wanted.Name || !slices.Contains(w.poolNames, p.Name) })
	list.Items = append(list.Items, *wanted)
	return membership.NewForecast(w.liveNodes(), membership.NewPools(list), wanted.Name, w.Clock.Now())
}

func (w *stage) liveNodes() []*corev1.Node {
	w.t.Helper()
	var out []*corev1.Node
	for _, name := range w.nodeNames {
		node := &corev1.Node{}
		must(w.t, w.Live.Get(w.t.Context(), types.NamespacedName{Name: name}, node))
		out = append(out, node)
	}
	return out
}

// carried returns what the nodes carry, by node and key, without the record.
func carried(nodes []*corev1.Node) map[string]string {
	out := map[string]string{}
	for _, node := range nodes {
		for key, value := range node.Labels {
			out[node.Name+" "+membership.LabelKey(key)] = value
		}
		for key, value := range node.Annotations {
			if key != nodesv1.AppliedAnnotation {
				out[node.Name+" "+membership.AnnotationKey(key)] = value
			}
		}
		for i := range node.Spec.Taints {
			out[node.Name+" "+membership.TaintKey(&node.Spec.Taints[i])] = node.Spec.Taints[i].Value
		}
	}
	return out
}

// apply returns what the nodes carry once the forecast has come true.
func apply(before map[string]string, of *membership.Forecast) map[string]string {
	out := maps.Clone(before)
	for _, node := range of.Nodes {
		for _, change := range node.Changes {
			delete(out, node.Node+" "+change.Key)
			if change.After != nil {
				out[node.Node+" "+change.Key] = *change.After
			}
		}
	}
	return out
}

// A forecast says what then happens: on nodes that join, leave and stay, with keys of other owners and of another pool.
func TestAForecastComesTrue(t *testing.T) {
	for sentence, tt := range map[string]struct {
		change func(w *stage) func(*nodesv1.NodePool)
		// fresh is true for a pool that does not exist before.
		fresh  bool
		braked bool
		// address is that of node rack2. All tests share one API server, so only one has the address that its pool selects.
		address string
	}{
		"other keys": {change: func(*stage) func(*nodesv1.NodePool) {
			return func(p *nodesv1.NodePool) {
				p.Spec.Labels = map[string]nodesv1.LabelValue{"env": "test", "tier": "gold"}
				p.Spec.Annotations = map[string]nodesv1.AnnotationValue{"owner": "me"}
				p.Spec.Taints = []nodesv1.Taint{{Key: "p", Value: "2", Effect: corev1.TaintEffectNoExecute}}
			}
		}},
		"other nodes": {braked: true, change: func(w *stage) func(*nodesv1.NodePool) {
			return func(p *nodesv1.NodePool) { p.Spec.NodeSelector.MatchLabels = map[string]string{"rack": w.name("2")} }
		}},
		"a segment": {address: "203.0.113.7", change: func(*stage) func(*nodesv1.NodePool) {
			return func(p *nodesv1.NodePool) {
				p.Spec.NodeCIDRs, p.Spec.Priority, p.Spec.Overwrite = []nodesv1.CIDR{"203.0.113.0/29"}, 9, nodesv1.OverwriteNever
			}
		}},
		"a new pool": {fresh: true, change: func(w *stage) func(*nodesv1.NodePool) {
			return func(p *nodesv1.NodePool) {
				p.Spec.Labels = map[string]nodesv1.LabelValue{"env": "new"}
				p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"rack": w.name("1")}}
			}
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newStage(t)
			change := tt.change(w)
			for i := range 4 {
				node := w.node(fmt.Sprint("rack1-", i))
				testkit.Edit(t, w.Harness, node, func(n *corev1.Node) { n.Labels["rack"] = w.name("1") })
			}
			other := w.node("rack2", "q")
			testkit.Edit(t, w.Harness, other, func(n *corev1.Node) { n.Labels["rack"], n.Labels["tier"] = w.name("2"), "iron" })
			testkit.EditStatus(t, w.Harness, other, func(n *corev1.Node) {
				n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: cmp.Or(tt.address, "203.0.113.70")}}
			})
			shared := w.node("shared", "p", "q")
			testkit.Edit(t, w.Harness, shared, func(n *corev1.Node) { n.Labels["note"] = "theirs" })
			pool := w.pool("p", label("env", "dev"), label("note", "ours"), taint("p", "1"), func(p *nodesv1.NodePool) {
				p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"rack": w.name("1")}}
			})
			w.pool("q", label("env", "prod"), func(p *nodesv1.NodePool) { p.Spec.Priority = 5 })
			w.converge()
			must(t, w.Live.Get(t.Context(), client.ObjectKeyFromObject(pool), pool))
			if tt.fresh {
				pool = &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: w.name("fresh")}}
			}
			before := carried(w.liveNodes())
			foreseen := w.forecast(pool, change)
			if tt.fresh {
				change(pool)
				w.Create(t, pool)
				w.poolNames = append(w.poolNames, pool.Name)
			} else {
				testkit.Edit(t, w.Harness, pool, change)
			}
			w.converge()
			must(t, w.Live.Get(t.Context(), client.ObjectKeyFromObject(pool), pool))
			if got := meta.IsStatusConditionTrue(pool.Status.Conditions, nodesv1.ConditionSafetyBrake); got != foreseen.Braked || got != tt.braked {
				t.Errorf("the brake holds: %t, foreseen: %t", got, foreseen.Braked)
			}
			if tt.braked { // a person lets them leave, as the forecast has it
				testkit.Edit(t, w.Harness, pool, func(p *nodesv1.NodePool) {
					p.Annotations = map[string]string{nodesv1.AcknowledgeAnnotation: strconv.FormatInt(p.Generation, 10)}
				})
				w.converge()
			}
			if diff := gocmp.Diff(carried(w.liveNodes()), apply(before, foreseen)); diff != "" {
				t.Errorf("the forecast (-what came +what was foreseen):\n%s", diff)
			}
			if len(foreseen.Nodes) == 0 {
				t.Error("nothing was foreseen")
			}
		})
	}
}

// The first batch of a bounded rollout is the one that the forecast names.
func TestAForecastNamesTheFirstBatch(t *testing.T) {
	w := newStage(t)
	for i := range 5 {
		w.node(fmt.Sprint("n", i), "p")
	}
	pool := w.pool("p", func(p *nodesv1.NodePool) { p.Spec.Rollout = &nodesv1.Rollout{MaxConcurrent: intstr.FromInt32(2)} })
	for range 5 { // each batch ends, and the clock lets the next one begin
		w.converge()
		w.Clock.Step(time.Minute)
	}
	must(t, w.Live.Get(t.Context(), client.ObjectKeyFromObject(pool), pool))
	foreseen := w.forecast(pool, label("env", "dev"))
	testkit.Edit(t, w.Harness, pool, label("env", "dev"))
	if _, err := w.Reconcile(t, w.pools, client.ObjectKeyFromObject(pool)); err != nil {
		t.Fatal(err)
	}
	must(t, w.Live.Get(t.Context(), client.ObjectKeyFromObject(pool), pool))
	if pool.Status.Rollout == nil || foreseen.Batch == nil {
		t.Fatalf("the batch is %+v, foreseen %+v", pool.Status.Rollout, foreseen.Batch)
	}
	if diff := gocmp.Diff(pool.Status.Rollout.Nodes, foreseen.Batch.Nodes); diff != "" || len(foreseen.Batch.Nodes) != 2 {
		t.Errorf("the first batch (-what came +what was foreseen):\n%s", diff)
	}
	if pool.Status.Rollout.WaitingNodeCount != foreseen.Batch.WaitingNodeCount {
		t.Errorf("%d nodes wait, foreseen are %d", pool.Status.Rollout.WaitingNodeCount, foreseen.Batch.WaitingNodeCount)
	}
}
