// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// Wanted returns the keys that the pool wants on its members, in the form of its ledger: label and annotation keys, and
// taints as "key=value:effect".
func Wanted(pool *nodesv1.NodePool) nodesv1.Ledger {
	ledger := nodesv1.Ledger{Labels: []string{pool.MemberLabel()}}
	if len(pool.Spec.NodeCIDRs) > 0 || !empty(pool.Spec.NodeSelector) {
		ledger.Labels = append(ledger.Labels, nodesv1.RoleLabel(pool.Name))
	}
	for key := range pool.Spec.Labels {
		ledger.Labels = append(ledger.Labels, key)
	}
	for key := range pool.Spec.Annotations {
		ledger.Annotations = append(ledger.Annotations, key)
	}
	for _, taint := range pool.Spec.Taints {
		ledger.Taints = append(ledger.Taints, LedgerTaint(taint))
	}
	return Union(ledger, nodesv1.Ledger{})
}

func empty(selector *metav1.LabelSelector) bool {
	return selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0
}

// Union returns the keys of both ledgers.
func Union(a, b nodesv1.Ledger) nodesv1.Ledger {
	return nodesv1.Ledger{
		Labels:      sortedUnique(slices.Concat(a.Labels, b.Labels)),
		Annotations: sortedUnique(slices.Concat(a.Annotations, b.Annotations)),
		Taints:      sortedUnique(slices.Concat(a.Taints, b.Taints)),
	}
}

// Taints returns the taints that a ledger names.
func Taints(ledger nodesv1.Ledger) []nodesv1.Taint {
	taints := make([]nodesv1.Taint, 0, len(ledger.Taints))
	for _, entry := range ledger.Taints {
		rest, effect, _ := strings.Cut(entry, ":")
		key, value, _ := strings.Cut(rest, "=")
		taints = append(taints, nodesv1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	return taints
}

// Covers reports whether the pool's ledger holds everything that its spec wants, so that nodes may follow.
func Covers(pool *nodesv1.NodePool) bool {
	grown := Union(Wanted(pool), pool.Status.Ledger)
	held := pool.Status.Ledger
	return len(grown.Labels) == len(held.Labels) && len(grown.Annotations) == len(held.Annotations) && len(grown.Taints) == len(held.Taints)
}

// LedgerTaint returns the taint as a ledger has it: "key=value:effect".
func LedgerTaint(taint nodesv1.Taint) string {
	return ledgerTaint(taintID(taint.Key, taint.Effect), taint.Value)
}

func ledgerTaint(id, value string) string {
	key, effect := splitTaintID(id)
	return key + "=" + value + ":" + string(effect)
}

// allows reports whether the ledger lets the pool put the key with that value on nodes.
func allows(ledger nodesv1.Ledger, of aspect, key, value string) bool {
	switch of {
	case onLabels:
		return slices.Contains(ledger.Labels, key)
	case onAnnotations:
		return slices.Contains(ledger.Annotations, key)
	case onTaints:
		return slices.Contains(ledger.Taints, ledgerTaint(key, value))
	}
	return false
}

// confirms reports whether the ledger says that the pool may have put the key on nodes.
func confirms(ledger nodesv1.Ledger, of aspect, key string) bool {
	if of != onTaints {
		return allows(ledger, of, key, "")
	}
	return slices.ContainsFunc(Taints(ledger), func(t nodesv1.Taint) bool { return taintID(t.Key, t.Effect) == key })
}

// wanted returns the values that the pool wants on the node, by aspect and key.
func (p *Pool) wanted() [aspectCount]map[string]string {
	out := [aspectCount]map[string]string{
		onLabels:      {p.MemberLabel(): ""},
		onAnnotations: {},
		onTaints:      {},
	}
	for key, value := range p.Spec.Labels {
		out[onLabels][key] = string(value)
	}
	for key, value := range p.Spec.Annotations {
		out[onAnnotations][key] = string(value)
	}
	for _, t := range p.Spec.Taints {
		if t.Key == nodesv1.UninitializedTaint { // refused by the schema, but maybe older than that
			continue
		}
		out[onTaints][taintID(t.Key, t.Effect)] = t.Value
	}
	return out
}
