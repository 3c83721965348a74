// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// node is the node of every test.
func node() *build.NodeBuilder { return build.Node("node").UID("uid") }

// closed puts on the node the taint with which kubelets register it, until Windlass opens it.
func closed(n *corev1.Node) {
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: nodesv1.UninitializedTaint, Effect: corev1.TaintEffectNoSchedule})
}

func withoutRecord(n *corev1.Node) { n.Annotations = nil }

// carries puts on the node what the pools would have put there.
func carries(list ...*build.PoolBuilder) func(*corev1.Node) {
	return func(n *corev1.Node) {
		applied := Record{}
		for _, builder := range list {
			pool := builder.Obj()
			n.Labels[nodesv1.MemberLabel(pool.Name)] = ""
			applied.add(pool.Name, onLabels, nodesv1.MemberLabel(pool.Name))
			for key, value := range pool.Spec.Labels {
				n.Labels[key] = string(value)
				applied.add(pool.Name, onLabels, key)
			}
			for _, t := range pool.Spec.Taints {
				n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
				applied.add(pool.Name, onTaints, taintID(t.Key, t.Effect))
			}
		}
		n.Annotations = map[string]string{nodesv1.AppliedAnnotation: applied.String()}
	}
}

// pool is a pool with its finalizer.
func pool(name string) *build.PoolBuilder { return build.Pool(name).Finalizer(nodesv1.Finalizer) }

// full is a pool with a label env=dev and a taint gpu=yes:NoSchedule.
func full(name string) *build.PoolBuilder {
	return pool(name).Label("env", "dev").Taint("gpu", "yes", corev1.TaintEffectNoSchedule)
}

// annotated adds the annotation team=a to a pool.
func annotated(builder *build.PoolBuilder) *build.PoolBuilder {
	return builder.With(func(p *nodesv1.NodePool) { p.Spec.Annotations = map[string]nodesv1.AnnotationValue{"team": "a"} })
}

// ready returns the pool as nodes may follow it: with everything it wants in its ledger, unless the test has set the ledger.
func ready(builder *build.PoolBuilder) *nodesv1.NodePool {
	p := builder.Obj()
	if len(p.Status.Ledger.Labels) == 0 {
		p.Status.Ledger = Wanted(p)
	}
	return p
}

// pools returns the pools, each of them ready.
func pools(list ...*build.PoolBuilder) []*nodesv1.NodePool {
	var all []*nodesv1.NodePool
	for _, builder := range list {
		all = append(all, ready(builder))
	}
	return all
}

func byName(list []*nodesv1.NodePool) Pools {
	all := Pools{}
	for _, pool := range list {
		all[pool.Name], _ = NewPool(pool)
	}
	return all
}

// ledgerOf is the ledger of a pool as it was before.
func ledgerOf(other *build.PoolBuilder) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) { p.Status.Ledger = Wanted(other.Obj()) }
}

func noted(key, value string) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) {
		p.Status.Originals = Remember(nil, node().Obj(), Original{Key: Key{onLabels, key}, Value: value})
	}
}

// crowded notes annotations of a hundred other nodes, as long as they may be, until there is no room for more.
func crowded(p *nodesv1.NodePool) {
	for i := range 100 {
		other := build.Node(fmt.Sprintf("other-%03d", i)).UID(types.UID(strconv.Itoa(i))).Obj()
		p.Status.Originals = Remember(p.Status.Originals, other, Original{Key: Key{onAnnotations, "team"}, Value: strings.Repeat("<", 1024)})
	}
}

// longNote notes as long an annotation of the node.
func longNote(p *nodesv1.NodePool) {
	p.Status.Originals = Remember(nil, node().Obj(), Original{Key: Key{onAnnotations, "team"}, Value: strings.Repeat("<", 1024)})
}

func age(d time.Duration) func(*nodesv1.NodePool) {
	return func(p *nodesv1.NodePool) {
		p.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-d))
	}
}

func withoutFinalizer(p *nodesv1.NodePool) { p.Finalizers = nil }

func deleting(p *nodesv1.NodePool) { p.DeletionTimestamp = new(metav1.Now()) }

func synced(p *nodesv1.NodePool) {
	p.Status.Conditions = []metav1.Condition{{
		Type: nodesv1.ConditionNodesSynced, Status: metav1.ConditionTrue, ObservedGeneration: p.Generation,
	}}
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
