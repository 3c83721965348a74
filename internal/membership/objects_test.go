// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/json"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

type (
	nodeOption func(*corev1.Node)
	poolOption func(*nodesv1.NodePool)
)

func node(options ...nodeOption) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", UID: "uid", Labels: map[string]string{}}}
	for _, option := range options {
		option(n)
	}
	return n
}

func role(pool string) nodeOption { return label(nodesv1.RoleLabel(pool), "true") }

func label(key, value string) nodeOption { return func(n *corev1.Node) { n.Labels[key] = value } }

func taint(key, value string, effect corev1.TaintEffect) nodeOption {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
}

func record(raw string) nodeOption {
	return func(n *corev1.Node) { n.Annotations = map[string]string{nodesv1.AppliedAnnotation: raw} }
}

func withoutRecord(n *corev1.Node) { n.Annotations = nil }

// carries puts on the node what the pools would have put there.
func carries(list ...*nodesv1.NodePool) nodeOption {
	return func(n *corev1.Node) {
		applied := Record{}
		for _, pool := range list {
			label(nodesv1.MemberLabel(pool.Name), "")(n)
			applied.add(pool.Name, onLabels, nodesv1.MemberLabel(pool.Name))
			for key, value := range pool.Spec.Labels {
				label(key, string(value))(n)
				applied.add(pool.Name, onLabels, key)
			}
			for _, t := range pool.Spec.Taints {
				taint(t.Key, t.Value, t.Effect)(n)
				applied.add(pool.Name, onTaints, taintID(t.Key, t.Effect))
			}
		}
		record(applied.String())(n)
	}
}

func pools(list ...*nodesv1.NodePool) []*nodesv1.NodePool { return list }

func byName(list []*nodesv1.NodePool) Pools {
	all := Pools{}
	for _, pool := range list {
		all[pool.Name], _ = NewPool(pool)
	}
	return all
}

// pool returns a pool that is ready to be applied: with finalizer, and with everything it wants in its ledger.
func pool(name string, options ...poolOption) *nodesv1.NodePool {
	p := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{
		Name: name, Generation: 1, Finalizers: []string{nodesv1.Finalizer},
	}}
	p.Status.Ledger = Wanted(p)
	for _, option := range options {
		option(p)
	}
	return p
}

// full is a pool with a label env=dev and a taint gpu=yes:NoSchedule.
func full(name string, options ...poolOption) *nodesv1.NodePool {
	return pool(name, append([]poolOption{
		withLabel("env", "dev"), withTaint("gpu", "yes", corev1.TaintEffectNoSchedule),
	}, options...)...)
}

func withLabel(key, value string) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.Labels = map[string]nodesv1.LabelValue{key: nodesv1.LabelValue(value)}
		p.Status.Ledger = Union(p.Status.Ledger, Wanted(p))
	}
}

func withTaint(key, value string, effect corev1.TaintEffect) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.Taints = []nodesv1.Taint{{Key: key, Value: value, Effect: effect}}
		p.Status.Ledger = Union(p.Status.Ledger, Wanted(p))
	}
}

func selects(key, value string) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
		p.Status.Ledger = Union(p.Status.Ledger, Wanted(p))
	}
}

func segment(cidr nodesv1.CIDR) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.NodeCIDRs = []nodesv1.CIDR{cidr}
		p.Status.Ledger = Union(p.Status.Ledger, Wanted(p))
	}
}

func address(ip string) nodeOption {
	return func(n *corev1.Node) {
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}}
	}
}

func overwrite(policy nodesv1.OverwritePolicy) poolOption {
	return func(p *nodesv1.NodePool) { p.Spec.Overwrite = policy }
}

func noted(key, value string) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Status.Originals = Remember(nil, node(), Original{Key: Key{onLabels, key}, Value: value})
	}
}

func age(d time.Duration) poolOption {
	return func(p *nodesv1.NodePool) {
		p.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-d))
	}
}

func ledgerOf(other *nodesv1.NodePool) poolOption {
	return func(p *nodesv1.NodePool) { p.Status.Ledger = other.Status.Ledger }
}

func generation(n int64) poolOption { return func(p *nodesv1.NodePool) { p.Generation = n } }

func withoutFinalizer(p *nodesv1.NodePool) { p.Finalizers = nil }

func deleting(p *nodesv1.NodePool) {
	now := metav1.Now()
	p.DeletionTimestamp = &now
}

func paused(p *nodesv1.NodePool) { p.Annotations = map[string]string{status.PausedAnnotation: "true"} }

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
