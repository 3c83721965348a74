// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// maxRecord bounds what is read from a node's annotation, which the node's kubelet may write. It is what the API server takes for all
// annotations of an object, so that whatever was written is read again: the keys of one pool alone can have 40 KiB.
const maxRecord = 256 << 10

// maxPools bounds how many pools a record can name. Nobody has a node in as many, and each name costs: in the index of nodes, and wherever somebody is
// told of names that no pool has.
const maxPools = 1000

// Record is what a node carries for each pool. It is kept as JSON in the annotation nodes.lailin.xyz/applied.
type Record map[string]Entry

// Entry is what a node carries for one pool.
type Entry struct {
	// Labels are label keys, sorted.
	Labels []string `json:"labels,omitempty"`
	// Annotations are annotation keys, sorted.
	Annotations []string `json:"annotations,omitempty"`
	// Taints are taints as "key:effect", sorted.
	Taints []string `json:"taints,omitempty"`
}

// ParseRecord reads the node's record. A malformed annotation counts as no record, which is safe: a record never counts for
// more than what the pools' ledgers confirm.
func ParseRecord(node client.Object) Record {
	raw, ok := node.GetAnnotations()[nodesv1.AppliedAnnotation]
	if !ok || len(raw) > maxRecord {
		return nil
	}
	var record Record
	if err := json.Unmarshal([]byte(raw), &record); err != nil || len(record) > maxPools {
		return nil
	}
	return record
}

// Carries reports whether the node carries anything for the pool, by its record or by the pool's member labels.
func Carries(node client.Object, pool string) bool {
	entry, recorded := ParseRecord(node)[pool]
	return HasJoined(node, pool) || (recorded && !entry.empty())
}

// Joined returns the names of the pools one of whose member labels the node carries, sorted.
func Joined(node client.Object) []string {
	var names []string
	for key := range node.GetLabels() {
		if name, ok := nodesv1.CutMemberLabel(key); ok {
			names = append(names, name)
		}
	}
	return sortedUnique(names)
}

// HasJoined reports whether the node carries a member label of the pool. No kubelet can write one.
func HasJoined(node client.Object, pool string) bool {
	return slices.ContainsFunc(nodesv1.MemberLabels(pool), func(key string) bool {
		_, joined := node.GetLabels()[key]
		return joined
	})
}

// String returns the record as it is written to the annotation: equal records give equal strings. Empty for none.
func (r Record) String() string {
	kept := make(Record, len(r))
	for pool, entry := range r {
		if !entry.empty() {
			kept[pool] = Entry{
				Labels: sortedUnique(entry.Labels), Annotations: sortedUnique(entry.Annotations), Taints: sortedUnique(entry.Taints),
			}
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

func (r Record) pools() []string { return sortedKeys(r) }

// add enters a key for a pool.
func (r Record) add(pool string, of aspect, key string) {
	entry := r[pool]
	switch of {
	case onLabels:
		entry.Labels = append(entry.Labels, key)
	case onAnnotations:
		entry.Annotations = append(entry.Annotations, key)
	case onTaints:
		entry.Taints = append(entry.Taints, key)
	}
	r[pool] = entry
}

func (e Entry) empty() bool { return len(e.Labels)+len(e.Annotations)+len(e.Taints) == 0 }

// keys returns the keys of an aspect.
func (e Entry) keys(of aspect) []string {
	switch of {
	case onLabels:
		return e.Labels
	case onAnnotations:
		return e.Annotations
	case onTaints:
		return e.Taints
	}
	return nil
}

// sortedUnique returns a copy of the list, nil for an empty one.
func sortedUnique(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// sortedKeys returns the keys of the map, nil for an empty one. It is called for each key of each plan, and allocates once.
func sortedKeys[V any](set map[string]V) []string {
	if len(set) == 0 {
		return nil
	}
	keys := make([]string, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// aspect is one of the three things that a pool puts on nodes. Each is a set of keys with values; the key of a taint is
// "key:effect", of which the API allows one.
type aspect int

const (
	onLabels aspect = iota
	onAnnotations
	onTaints
	aspectCount = iota
)

// aspects are all aspects, in the order in which they are reported.
func aspects() [aspectCount]aspect { return [...]aspect{onLabels, onAnnotations, onTaints} }

// describe names a key for people.
func (a aspect) describe(key string) string {
	switch a {
	case onLabels:
		return "label " + key
	case onAnnotations:
		return "annotation " + key
	case onTaints:
		return "taint " + key
	}
	return key
}

func taintID(key string, effect corev1.TaintEffect) string { return key + ":" + string(effect) }

func splitTaintID(id string) (string, corev1.TaintEffect) {
	key, effect, _ := strings.Cut(id, ":")
	return key, corev1.TaintEffect(effect)
}
