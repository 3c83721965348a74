// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// wantRole asks for the role label of a node that the pool selects, unless another owner has set it. Its value does not matter.
func (m *merge) wantRole(pool *Pool, wanted map[string]string) {
	role := nodesv1.RoleLabel(pool.Name)
	value, labelled := m.node.Labels[role]
	own := value == "" && (slices.Contains(m.before[pool.Name].Labels, role) || m.lost(pool))
	if pool.Selects() && (!labelled || own) && pool.selects(m.node, pool.own(m.node, m.before)) {
		wanted[role] = value
	}
}

// doubtful reports whether a pool that has lost its segments cannot know that somebody put the node into it: the node came while addresses
// counted, and its role label can be Windlass' own, which the record no longer says. A kubelet may write the record.
func (m *merge) doubtful(pool *Pool) bool {
	role := nodesv1.RoleLabel(pool.Name)
	_, byAddress := m.node.Labels[nodesv1.AddressLabel(pool.Name)]
	_, strict := m.node.Labels[nodesv1.MemberLabel(pool.Name)]
	return len(pool.segments) == 0 && byAddress && !strict && m.node.Labels[role] == "" && confirms(pool.Status.Ledger, onLabels, role) &&
		!pool.selects(m.node, pool.own(m.node, m.before))
}

// lost reports whether the node's record has been lost after it joined: a member label cannot be forged, so it proves the
// join.
func (m *merge) lost(pool *Pool) bool {
	_, recorded := m.before[pool.Name]
	return !recorded && HasJoined(m.node, pool.Name)
}
