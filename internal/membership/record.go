// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// maxRecord bounds what is read from a node's annotation, which the node's kubelet may write.
const maxRecord = 64 << 10

// Record is what a node carries for each pool. It is kept as JSON in the annotation nodes.lailin.xyz/applied.
type Record map[string]Entry

// Entry is what a node carries for one pool.
type Entry struct {
	// Labels are label keys, sorted.
	Labels []string `json:"labels,omitempty"`
	// Taints are taints as "key:effect", sorted.
	Taints []string `json:"taints,omitempty"`
}

// ParseRecord reads the node's record. An annotation that is not a record is none: the node's own word never counts for
// more than what the pools' ledgers confirm.
func ParseRecord(node client.Object) Record {
	raw, ok := node.GetAnnotations()[nodesv1.AppliedAnnotation]
	if !ok || len(raw) > maxRecord {
		return nil
	}
	var record Record
	if err := json.Unmarshal([]byte(raw), &record); err != nil {
		return nil
	}
	return record
}

// Carries reports whether the node carries anything for the pool, by its record or by the pool's member label.
func Carries(node client.Object, pool string) bool {
	entry, recorded := ParseRecord(node)[pool]
	_, member := node.GetLabels()[nodesv1.MemberLabel(pool)]
	return member || (recorded && len(entry.Labels)+len(entry.Taints) > 0)
}

// String returns the record as it is written to the annotation: equal records give equal strings. Empty for none.
func (r Record) String() string {
	kept := make(Record, len(r))
	for pool, entry := range r {
		if len(entry.Labels)+len(entry.Taints) > 0 {
			kept[pool] = Entry{Labels: sortedUnique(entry.Labels), Taints: sortedUnique(entry.Taints)}
		}
	}
	if len(kept) == 0 {
		return ""
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return ""
	}
	return string(raw)
}

func (r Record) addLabel(pool, key string) {
	entry := r[pool]
	entry.Labels = append(entry.Labels, key)
	r[pool] = entry
}

func (r Record) addTaint(pool, id string) {
	entry := r[pool]
	entry.Taints = append(entry.Taints, id)
	r[pool] = entry
}

func (r Record) pools() []string { return slices.Sorted(maps.Keys(r)) }

func (r Record) hasLabel(key string) bool {
	for _, entry := range r {
		if slices.Contains(entry.Labels, key) {
			return true
		}
	}
	return false
}

func (r Record) hasTaint(id string) bool {
	for _, entry := range r {
		if slices.Contains(entry.Taints, id) {
			return true
		}
	}
	return false
}

func sortedUnique(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// taintID identifies a taint on a node: the API allows one for each key and effect.
func taintID(key string, effect corev1.TaintEffect) string { return key + ":" + string(effect) }

// Wanted returns the keys that the pool wants on its members, in the form of its ledger: label keys, and taints as
// "key=value:effect".
func Wanted(pool *nodesv1.NodePool) nodesv1.Ledger {
	ledger := nodesv1.Ledger{Labels: []string{nodesv1.MemberLabel(pool.Name)}}
	for key := range pool.Spec.Labels {
		ledger.Labels = append(ledger.Labels, key)
	}
	for _, taint := range pool.Spec.Taints {
		ledger.Taints = append(ledger.Taints, ledgerTaint(taint))
	}
	return Union(ledger, nodesv1.Ledger{})
}

// Union returns the keys of both ledgers.
func Union(a, b nodesv1.Ledger) nodesv1.Ledger {
	return nodesv1.Ledger{
		Labels: sortedUnique(slices.Concat(a.Labels, b.Labels)),
		Taints: sortedUnique(slices.Concat(a.Taints, b.Taints)),
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

func ledgerTaint(taint nodesv1.Taint) string {
	return taint.Key + "=" + taint.Value + ":" + string(taint.Effect)
}

// ledgerAllowsTaint reports whether the pool may have put a taint of that key and effect on a node.
func ledgerAllowsTaint(ledger nodesv1.Ledger, id string) bool {
	return slices.ContainsFunc(Taints(ledger), func(t nodesv1.Taint) bool { return taintID(t.Key, t.Effect) == id })
}
