// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// hold claims what the record names for the pool, as it is.
func (m *merge) hold(pool *Pool, which func(of aspect, key string) bool) {
	for _, of := range aspects() {
		for _, key := range m.before[pool.Name].keys(of) {
			if which(of, key) {
				m.keep(pool, of, key)
			}
		}
	}
}

// retain keeps the originals of what a holding pool wants on a member, even if the record does not name it: the pool takes its keys up again when it no
// longer holds, and then has to know what it had replaced.
func (m *merge) retain(pool *Pool) {
	if !pool.noted(m.node) { // nearly always
		return
	}
	wanted := pool.wanted()
	for _, of := range aspects() {
		for _, key := range sortedKeys(wanted[of]) {
			m.note(pool.Name, of, key)
		}
	}
}

// guard claims the keys that a holding pool wants and has on a node that has joined it, even if the record does not name them: no other writer gets a
// key because a node lost its record.
func (m *merge) guard(pool *Pool) {
	if !HasJoined(m.node, pool.Name) {
		return
	}
	wanted := pool.wanted()
	for _, of := range aspects() {
		for key, value := range wanted[of] {
			have, present := m.current[of][key]
			if _, taken := m.claims[of][key]; !taken && present && have == value && !isMembership(of, key) && allows(pool.Status.Ledger, of, key, value) {
				m.claims[of][key] = claim{pool: pool.Name, value: value, held: true, foreign: true}
			}
		}
	}
}

// holdMembership claims the member labels of a pool as they are, without a record too: only Windlass sets them, and a node that lost its record
// leaves the pool as any other.
func (m *merge) holdMembership(pool *Pool) {
	for _, key := range nodesv1.MemberLabels(pool.Name) {
		value, present := m.current[onLabels][key]
		if _, taken := m.claims[onLabels][key]; present && !taken {
			m.claims[onLabels][key] = claim{pool: pool.Name, value: value, held: true}
		}
	}
}

// proven reports whether a member label proves without a record that the node has joined the pool, which has to take the label off.
func (m *merge) proven(pool *Pool) bool {
	return slices.ContainsFunc(nodesv1.MemberLabels(pool.Name), func(key string) bool {
		_, present := m.current[onLabels][key]
		return present && m.takesOff(pool, onLabels, key)
	})
}

// takesOff reports whether the pool may take the key off the node: its ledger confirms it, or it is a member label of a pool that is being deleted or drains
// the node. No kubelet can write those. A pool whose ledger is lost, or that was made anew, could never let go of a node that has the one that it gives
// nobody, and no drain begins while a node has either.
func (m *merge) takesOff(pool *Pool, of aspect, key string) bool {
	if confirms(pool.Status.Ledger, of, key) {
		return true
	}
	own := of == onLabels && slices.Contains(nodesv1.MemberLabels(pool.Name), key)
	return own && (pool.DeletionTimestamp != nil || pool.enters(m.node) && pool.left(m.node, m.before))
}

// bears reports whether the record names something of the pool that has to be counted before it goes: a key that is there and that the ledger
// confirms. Where the pool is about to write its ledger again, or drains the node, nobody can tell from the keys.
func (m *merge) bears(pool *Pool) bool {
	if m.before[pool.Name].empty() {
		return false
	}
	return !Covers(pool.NodePool) || pool.enters(m.node) || m.names(pool, everything)
}

// vouched reports whether the node has something of the pool that its kubelet cannot write.
func (m *merge) vouched(pool *Pool) bool {
	return HasJoined(m.node, pool.Name) || pool.enters(m.node) || m.names(pool, restricted)
}

// names reports whether the record names such a key that is there and that the ledger confirms.
func (m *merge) names(pool *Pool, such func(of aspect, key string) bool) bool {
	for _, of := range aspects() {
		for _, key := range m.before[pool.Name].keys(of) {
			if _, present := m.current[of][key]; present && such(of, key) && confirms(pool.Status.Ledger, of, key) {
				return true
			}
		}
	}
	return false
}

// restricted reports whether NodeRestriction keeps kubelets from the key.
func restricted(of aspect, key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	reserved := domain == corev1.LabelNamespaceNodeRestriction || strings.HasSuffix(domain, "."+corev1.LabelNamespaceNodeRestriction)
	return of == onTaints || of == onLabels && (reserved || strings.HasPrefix(key, nodesv1.RoleLabelPrefix))
}

func everything(aspect, string) bool { return true }

func exceptMembership(of aspect, key string) bool { return !isMembership(of, key) }

func isMembership(of aspect, key string) bool {
	_, member := nodesv1.CutMemberLabel(key)
	return of == onLabels && (member || strings.HasPrefix(key, nodesv1.RoleLabelPrefix))
}

// keep claims one recorded key as it is, if the ledger confirms it and the key is there.
func (m *merge) keep(pool *Pool, of aspect, key string) {
	m.after.add(pool.Name, of, key)
	value, present := m.current[of][key]
	if _, taken := m.claims[of][key]; !taken && present && confirms(pool.Status.Ledger, of, key) {
		m.claims[of][key] = claim{pool: pool.Name, value: value, held: true}
	}
}
