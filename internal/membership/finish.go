// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// finish turns the claims into changes of the node.
func (m *merge) finish() {
	m.plan.SetLabels, m.plan.RemoveLabels = m.changes(onLabels)
	m.plan.SetAnnotations, m.plan.RemoveAnnotations = m.changes(onAnnotations)
	m.finishTaints()

	m.plan.Record = m.after.String()
	m.plan.RecordChanged = m.plan.Record != m.node.Annotations[nodesv1.AppliedAnnotation]
	m.awaitRecord()
	for _, record := range []Record{m.before, m.after} {
		for pool, entry := range record {
			for _, of := range aspects() {
				for _, key := range entry.keys(of) {
					m.note(pool, of, key)
				}
			}
		}
	}
	m.plan.Carrying = m.carrying()
	m.plan.Claimed = slices.DeleteFunc(slices.Clone(m.plan.Carrying), func(name string) bool {
		return m.pools[name] == nil || m.vouched(m.pools[name])
	})
	maps.DeleteFunc(m.pending, func(_ string, pending bool) bool { return !pending })
	m.plan.Pending = sortedKeys(m.pending)
	m.plan.Abandoned = sortedUnique(m.plan.Abandoned)
	slices.Sort(m.plan.Drift)
}

// awaitRecord makes a pool wait for a node whose record still names a key that the pool gives up: until then, only the ledger proves
// that the pool set the key.
func (m *merge) awaitRecord() {
	for name, entry := range m.before {
		if _, exists := m.pools[name]; !exists {
			continue
		}
		for _, of := range aspects() {
			for _, key := range entry.keys(of) {
				m.pending[name] = m.pending[name] || !slices.Contains(m.after[name].keys(of), key)
			}
		}
	}
}

// carrying returns the pools that the record names, and those whose member label the node has.
func (m *merge) carrying() []string {
	return slices.DeleteFunc(slices.Clone(m.shown), func(name string) bool { return m.before[name].empty() && !HasJoined(m.node, name) })
}

// changes returns what to set and what to remove of labels or annotations.
func (m *merge) changes(of aspect) (set map[string]string, remove []string) {
	set = map[string]string{}
	for key, claim := range m.claims[of] {
		have, present := m.current[of][key]
		if claim.held || (present && have == claim.value) {
			continue
		}
		set[key] = claim.value
		m.changed(claim.pool, of, key)
	}
	for key, value := range m.released[of] {
		if value != nil {
			set[key] = *value
			continue
		}
		remove = append(remove, key)
	}
	return set, sortedUnique(remove)
}

// finishTaints keeps the order of the node's taints, replaces changed values in place and appends new taints sorted.
func (m *merge) finishTaints() {
	for _, t := range m.node.Spec.Taints {
		if t.Key == nodesv1.UninitializedTaint && m.opens {
			continue
		}
		id := taintID(t.Key, t.Effect)
		value := t.Value
		if claim, ok := m.claims[onTaints][id]; ok && !claim.held && claim.value != value {
			value = claim.value
			m.changed(claim.pool, onTaints, id)
		}
		if original, ok := m.released[onTaints][id]; ok {
			if original == nil {
				m.plan.TaintsChanged = true
				continue
			}
			value = *original
		}
		if value != t.Value {
			t.Value, t.TimeAdded = value, nil
			m.plan.TaintsChanged = true
		}
		m.plan.Taints = append(m.plan.Taints, t)
	}
	for _, id := range sortedKeys(m.claims[onTaints]) {
		if _, present := m.current[onTaints][id]; present || m.claims[onTaints][id].held {
			continue
		}
		key, effect := splitTaintID(id)
		m.plan.Taints = append(m.plan.Taints, corev1.Taint{Key: key, Value: m.claims[onTaints][id].value, Effect: effect})
		m.plan.TaintsChanged = true
		m.changed(m.claims[onTaints][id].pool, onTaints, id)
	}
}

// changed notes that a pool's key is not on the node as it has to be: as drift if it had been recorded, and the pool had reported that
// all its nodes carry its spec.
func (m *merge) changed(pool string, of aspect, key string) {
	m.pending[pool] = true
	if slices.Contains(m.before[pool].keys(of), key) && m.pools[pool].settled() {
		m.plan.Drift = append(m.plan.Drift, of.describe(key))
	}
}
