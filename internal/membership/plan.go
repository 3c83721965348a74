// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Plan is what has to change on a node.
type Plan struct {
	// SetLabels are the labels to set.
	SetLabels map[string]string
	// RemoveLabels are the keys of the labels to remove, sorted.
	RemoveLabels []string
	// Taints is the node's complete new list of taints; it counts only if TaintsChanged.
	Taints []corev1.Taint
	// TaintsChanged is true when Taints differs from what the node has.
	TaintsChanged bool
	// Record is the node's new record, empty for none; it counts only if RecordChanged.
	Record string
	// RecordChanged is true when Record differs from what the node has.
	RecordChanged bool

	// Pending are the pools, sorted, that the node does not yet carry everything of, or still carries something of.
	Pending []string
	// Conflicts are the keys that a pool wants on the node and cannot have.
	Conflicts []Conflict
	// Drift are the keys, sorted, that Windlass had put on the node and somebody else changed or removed.
	Drift []string
	// Abandoned are the pools, sorted, that the record names but no ledger confirms: their keys are left as they are.
	Abandoned []string
}

// Conflict is a key that a pool wants on a node and cannot have.
type Conflict struct {
	// Pool is the name of the pool that goes without.
	Pool string
	// Key is "label <key>" or "taint <key>:<effect>".
	Key string
	// Holder is the name of the pool that has the key, empty for somebody else.
	Holder string
}

// Empty reports whether there is nothing to write.
func (p *Plan) Empty() bool {
	return len(p.SetLabels) == 0 && len(p.RemoveLabels) == 0 && !p.TaintsChanged && !p.RecordChanged
}

// NewPlan computes what has to change on the node. The result depends on nothing but the arguments.
//
// For each key the members decide in the order in which they win conflicts. A key that the node carries with another value
// and that no record claims is somebody else's and stays; one with the wanted value is as wanted and not claimed. A
// pool only takes part with keys that its ledger already holds, so that whatever is written can be found again; a paused
// pool holds what it has, before all others.
func NewPlan(node *corev1.Node, pools Pools) *Plan {
	m := &merge{
		node:    node,
		pools:   pools,
		before:  ParseRecord(node),
		after:   Record{},
		labels:  map[string]claim{},
		taints:  map[string]claim{},
		pending: map[string]bool{},
		plan:    &Plan{SetLabels: map[string]string{}},
		current: make(map[string]string, len(node.Spec.Taints)),
	}
	for _, taint := range node.Spec.Taints {
		m.current[taintID(taint.Key, taint.Effect)] = taint.Value
	}
	for _, name := range m.before.pools() {
		if pool, exists := pools[name]; exists && holds(pool) {
			m.hold(pool)
		}
	}
	for _, pool := range pools.members(node) {
		switch {
		case pool.DeletionTimestamp != nil || status.IsPaused(pool):
		case holds(pool):
			m.pending[pool.Name] = true
		default:
			m.join(pool)
		}
	}
	m.retire()
	return m.finish()
}

// holds reports whether what the pool has on nodes stays as it is: nothing is added, changed or removed for a pool that is
// paused, or that has no finalizer and so could vanish without being cleaned up.
func holds(pool *nodesv1.NodePool) bool {
	if pool.DeletionTimestamp != nil {
		return false
	}
	return status.IsPaused(pool) || !slices.Contains(pool.Finalizers, nodesv1.Finalizer)
}

// claim says which pool decides a key, and with which value. A held key is kept as it is.
type claim struct {
	pool  string
	value string
	held  bool
}

// merge is the state of one computation.
type merge struct {
	node          *corev1.Node
	pools         Pools
	before, after Record
	labels        map[string]claim  // by key
	taints        map[string]claim  // by taintID
	current       map[string]string // value of the node's taints by taintID
	gone          []string          // taintIDs to remove
	pending       map[string]bool
	plan          *Plan
}

// hold claims everything that the record names for the pool, as it is.
func (m *merge) hold(pool *nodesv1.NodePool) {
	for _, key := range m.before[pool.Name].Labels {
		if _, taken := m.labels[key]; !taken {
			m.labels[key] = claim{pool: pool.Name, value: m.node.Labels[key], held: true}
		}
		m.after.addLabel(pool.Name, key)
	}
	for _, id := range m.before[pool.Name].Taints {
		if _, taken := m.taints[id]; !taken {
			m.taints[id] = claim{pool: pool.Name, value: m.current[id], held: true}
		}
		m.after.addTaint(pool.Name, id)
	}
}

// join claims what the pool wants, as far as it may have it.
func (m *merge) join(pool *nodesv1.NodePool) {
	// The member label cannot be forged, so it proves an earlier join even where the record has been lost.
	_, joined := m.node.Labels[nodesv1.MemberLabel(pool.Name)]
	lost := joined && m.before == nil

	wanted := map[string]string{nodesv1.MemberLabel(pool.Name): ""}
	for key, value := range pool.Spec.Labels {
		wanted[key] = string(value)
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if !slices.Contains(pool.Status.Ledger.Labels, key) {
			m.pending[pool.Name] = true
			continue
		}
		have, present := m.node.Labels[key]
		foreign := present && !m.before.hasLabel(key) && !isMemberLabel(key)
		if m.claim(m.labels, pool.Name, "label "+key, key, wanted[key], have, foreign, lost) {
			m.after.addLabel(pool.Name, key)
		}
	}
	for _, taint := range pool.Spec.Taints {
		id := taintID(taint.Key, taint.Effect)
		if !slices.Contains(pool.Status.Ledger.Taints, ledgerTaint(taint)) {
			m.pending[pool.Name] = true
			m.keepTaint(pool.Name, id)
			continue
		}
		have, present := m.current[id]
		foreign := present && !m.before.hasTaint(id)
		if m.claim(m.taints, pool.Name, "taint "+id, id, taint.Value, have, foreign, lost) {
			m.after.addTaint(pool.Name, id)
		}
	}
}

// keepTaint holds a taint whose new value the ledger does not allow yet, so that the node is never without it in between.
func (m *merge) keepTaint(pool, id string) {
	if _, taken := m.taints[id]; taken || !slices.Contains(m.before[pool].Taints, id) {
		return
	}
	m.taints[id] = claim{pool: pool, value: m.current[id], held: true}
	m.after.addTaint(pool, id)
}

// claim enters a pool's wish for a key and reports whether the pool gets it recorded: alone, or together with a pool that
// wants the same value.
func (m *merge) claim(claims map[string]claim, pool, what, key, value, have string, foreign, lost bool) bool {
	if winner, taken := claims[key]; taken {
		if winner.value != value {
			m.plan.Conflicts = append(m.plan.Conflicts, Conflict{Pool: pool, Key: what, Holder: winner.pool})
			return false
		}
		return true
	}
	if foreign && have != value {
		m.plan.Conflicts = append(m.plan.Conflicts, Conflict{Pool: pool, Key: what})
		return false
	}
	if foreign && !lost {
		return false
	}
	claims[key] = claim{pool: pool, value: value}
	return true
}

// retire removes what the record names and no member claims any more, as far as the ledger of its pool confirms it.
func (m *merge) retire() {
	for _, name := range m.before.pools() {
		pool, exists := m.pools[name]
		if !exists {
			m.plan.Abandoned = append(m.plan.Abandoned, name)
			continue
		}
		for _, key := range m.before[name].Labels {
			m.retireLabel(pool, key)
		}
		for _, id := range m.before[name].Taints {
			m.retireTaint(pool, id)
		}
	}
	// A member label is nobody else's, so it goes also where the record has been lost.
	for key := range m.node.Labels {
		if pool, exists := m.pools[strings.TrimPrefix(key, nodesv1.MemberLabelPrefix)]; exists && isMemberLabel(key) {
			m.retireLabel(pool, key)
		}
	}
	m.plan.Abandoned = sortedUnique(m.plan.Abandoned)
}

func (m *merge) retireLabel(pool *nodesv1.NodePool, key string) {
	_, claimed := m.labels[key]
	_, present := m.node.Labels[key]
	switch {
	case claimed || !present || holds(pool):
	case slices.Contains(pool.Status.Ledger.Labels, key):
		m.plan.RemoveLabels = append(m.plan.RemoveLabels, key)
		m.pending[pool.Name] = true
	default:
		m.plan.Abandoned = append(m.plan.Abandoned, pool.Name)
	}
}

func (m *merge) retireTaint(pool *nodesv1.NodePool, id string) {
	_, claimed := m.taints[id]
	_, present := m.current[id]
	switch {
	case claimed || !present || holds(pool):
	case ledgerAllowsTaint(pool.Status.Ledger, id):
		m.gone = append(m.gone, id)
		m.pending[pool.Name] = true
	default:
		m.plan.Abandoned = append(m.plan.Abandoned, pool.Name)
	}
}

// finish turns the claims into changes of the node.
func (m *merge) finish() *Plan {
	for key, claim := range m.labels {
		have, present := m.node.Labels[key]
		if claim.held || (present && have == claim.value) {
			continue
		}
		m.plan.SetLabels[key] = claim.value
		m.pending[claim.pool] = true
		m.noteDrift("label "+key, claim.pool, m.before[claim.pool].Labels, key)
	}
	m.plan.RemoveLabels = sortedUnique(m.plan.RemoveLabels)
	m.finishTaints()

	m.plan.Record = m.after.String()
	m.plan.RecordChanged = m.plan.Record != m.node.Annotations[nodesv1.AppliedAnnotation]
	m.plan.Pending = slices.Sorted(maps.Keys(m.pending))
	slices.Sort(m.plan.Drift)
	return m.plan
}

// finishTaints keeps the order of the node's taints, replaces changed values in place and appends new taints sorted.
func (m *merge) finishTaints() {
	for _, taint := range m.node.Spec.Taints {
		id := taintID(taint.Key, taint.Effect)
		if slices.Contains(m.gone, id) {
			m.plan.TaintsChanged = true
			continue
		}
		if claim, ok := m.taints[id]; ok && !claim.held && claim.value != taint.Value {
			taint.Value, taint.TimeAdded = claim.value, nil
			m.changeTaint(id, claim.pool)
		}
		m.plan.Taints = append(m.plan.Taints, taint)
	}
	for _, id := range slices.Sorted(maps.Keys(m.taints)) {
		if _, present := m.current[id]; present || m.taints[id].held {
			continue
		}
		key, effect := splitTaintID(id)
		m.plan.Taints = append(m.plan.Taints, corev1.Taint{Key: key, Value: m.taints[id].value, Effect: effect})
		m.changeTaint(id, m.taints[id].pool)
	}
}

func (m *merge) changeTaint(id, pool string) {
	m.plan.TaintsChanged = true
	m.pending[pool] = true
	m.noteDrift("taint "+id, pool, m.before[pool].Taints, id)
}

// noteDrift notes a key as drifted if it had been recorded, and the pool had told that all its nodes carry its spec.
func (m *merge) noteDrift(what, pool string, recorded []string, key string) {
	current := m.pools[pool]
	synced := meta.FindStatusCondition(current.Status.Conditions, nodesv1.ConditionNodesSynced)
	if !slices.Contains(recorded, key) || synced == nil {
		return
	}
	if synced.Status == metav1.ConditionTrue && synced.ObservedGeneration == current.Generation {
		m.plan.Drift = append(m.plan.Drift, what)
	}
}
