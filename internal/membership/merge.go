// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

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
	// current is what the node has, claims what it shall have, released what nobody claims any more: the value to restore, or
	// nil to remove.
	current  [aspectCount]map[string]string
	claims   [aspectCount]map[string]claim
	released [aspectCount]map[string]*string
	pending  map[string]bool
	// joined are the pools that put on the node what they want. incomplete is true while it is not all that its pools want.
	joined     []string
	incomplete bool
	// deferred is true where a pool waits for the node's turn, though maybe with nothing to change.
	deferred bool
	// passed are the keys that a pool left to somebody else.
	passed map[Key]bool
	plan   *Plan
}

func newMerge(node *corev1.Node, pools Pools) *merge {
	m := &merge{
		node: node, pools: pools,
		before: ParseRecord(node), after: Record{},
		current:  [aspectCount]map[string]string{onLabels: node.Labels, onAnnotations: node.Annotations, onTaints: {}},
		claims:   [aspectCount]map[string]claim{onLabels: {}, onAnnotations: {}, onTaints: {}},
		released: [aspectCount]map[string]*string{onLabels: {}, onAnnotations: {}, onTaints: {}},
		pending:  map[string]bool{},
		plan:     &Plan{},
	}
	for _, t := range node.Spec.Taints {
		m.current[onTaints][taintID(t.Key, t.Effect)] = t.Value
	}
	return m
}

// holds reports whether what the pool has on the node stays as it is: the pool holds everywhere, or the node is a member whose
// turn has not come.
func (m *merge) holds(pool *Pool) bool {
	return pool.holds() || pool.defers(m.node) && !pool.left(m.node, m.before)
}

// hold claims what the record names for the pool, as it is.
func (m *merge) hold(pool *Pool, which func(of aspect, key string) bool) {
	for _, of := range aspects() {
		for _, key := range m.before[pool.Name].keys(of) {
			if which(of, key) {
				m.keep(pool.Name, of, key)
			}
		}
	}
}

func everything(aspect, string) bool { return true }

func exceptMembership(of aspect, key string) bool { return !isMembership(of, key) }

// keep claims one recorded key as it is.
func (m *merge) keep(pool string, of aspect, key string) {
	if _, taken := m.claims[of][key]; !taken {
		m.claims[of][key] = claim{pool: pool, value: m.current[of][key], held: true}
	}
	m.after.add(pool, of, key)
}

// join claims what the pool wants, as far as it may have it.
func (m *merge) join(pool *Pool) {
	m.joined = append(m.joined, pool.Name)
	wanted := pool.wanted()
	m.wantRole(pool, wanted[onLabels])
	for _, of := range aspects() {
		for _, key := range slices.Sorted(maps.Keys(wanted[of])) {
			m.want(pool, of, key, wanted[of][key])
		}
	}
}

// wantRole asks for the role label of a node that the pool selects, unless somebody else has set it. Its value does not matter.
func (m *merge) wantRole(pool *Pool, wanted map[string]string) {
	role := nodesv1.RoleLabel(pool.Name)
	value, labelled := m.node.Labels[role]
	own := slices.Contains(m.before[pool.Name].Labels, role) || m.lost(pool)
	if pool.Selects() && (!labelled || own) && pool.selects(m.node, m.before[pool.Name].Labels) {
		wanted[role] = value
	}
}

// lost reports whether the node's record has been lost after it joined: the member label cannot be forged, so it proves the
// join.
func (m *merge) lost(pool *Pool) bool {
	_, joined := m.node.Labels[nodesv1.MemberLabel(pool.Name)]
	return joined && m.before == nil
}

// want claims one key for the pool, or says why it cannot have it.
func (m *merge) want(pool *Pool, of aspect, key, value string) {
	recorded := slices.Contains(m.before[pool.Name].keys(of), key)
	if !allows(pool.Status.Ledger, of, key, value) {
		m.pending[pool.Name], m.incomplete, m.plan.Early = true, true, true
		// A taint whose new value is not allowed yet keeps the old one, so that the node is never without it in between.
		if recorded {
			m.keep(pool.Name, of, key)
		}
		return
	}
	if winner, taken := m.claims[of][key]; taken {
		if winner.value != value {
			m.conflict(pool, of, key, winner.pool)
			return
		}
		m.after.add(pool.Name, of, key)
		return
	}
	have, present := m.current[of][key]
	foreign := present && !m.before.has(of, key) && !isMembership(of, key)
	if foreign && !m.mayTake(pool, of, key, have, value) {
		if m.passed == nil {
			m.passed = map[Key]bool{}
		}
		m.passed[Key{of, key}] = true
		return
	}
	m.claims[of][key] = claim{pool: pool.Name, value: value}
	m.after.add(pool.Name, of, key)
	// A pool that comes before this one and left the key to somebody else takes it over as soon as it is a pool's.
	m.incomplete = m.incomplete || m.passed[Key{of, key}]
}

// mayTake decides about a key that somebody else has set.
func (m *merge) mayTake(pool *Pool, of aspect, key, have, value string) bool {
	if have == value {
		// As wanted. It is claimed only where an earlier claim may have been lost, or where the pool takes everything.
		return m.lost(pool) || pool.Spec.Overwrite == nodesv1.OverwriteAlways
	}
	switch pool.Spec.Overwrite {
	case nodesv1.OverwriteAlways:
		return true
	case nodesv1.OverwriteRestore:
		if noted, ok := pool.original(m.node, of, key); ok && noted == have {
			return true
		}
		full := len(pool.Status.Originals) >= nodesv1.MaxOriginals
		if !full {
			m.plan.Originals = append(m.plan.Originals, Original{Pool: pool.Name, Key: Key{of, key}, Value: have})
			m.pending[pool.Name] = true
			return false
		}
	case nodesv1.OverwriteNever:
	}
	m.conflict(pool, of, key, "")
	return false
}

func (m *merge) conflict(pool *Pool, of aspect, key, holder string) {
	m.plan.Conflicts = append(m.plan.Conflicts, Conflict{Pool: pool.Name, Key: of.describe(key), Holder: holder})
}

// retire lets go what the record names and no member claims any more, as far as the ledger of its pool confirms it.
func (m *merge) retire() {
	for _, name := range m.before.pools() {
		pool, exists := m.pools[name]
		if !exists {
			m.plan.Abandoned = append(m.plan.Abandoned, name)
			continue
		}
		for _, of := range aspects() {
			for _, key := range m.before[name].keys(of) {
				m.retireKey(pool, of, key)
			}
		}
		if !pool.holds() && pool.left(m.node, m.before) && !m.before[name].empty() {
			m.plan.Leaving = append(m.plan.Leaving, name)
			m.pending[name] = true
		}
	}
	// A member label is nobody else's, so it goes also where the record has been lost.
	for key := range m.node.Labels {
		if name, ok := strings.CutPrefix(key, nodesv1.MemberLabelPrefix); ok && m.pools[name] != nil {
			m.retireKey(m.pools[name], onLabels, key)
		}
	}
	m.handOver()
}

// retireKey lets go one key of a pool.
func (m *merge) retireKey(pool *Pool, of aspect, key string) {
	_, claimed := m.claims[of][key]
	_, present := m.current[of][key]
	orphan := pool.DeletionTimestamp != nil && pool.Spec.DeletionPolicy == nodesv1.DeletionOrphan
	switch {
	case claimed || !present || m.holds(pool):
	case orphan && !isMembership(of, key):
	case !confirms(pool.Status.Ledger, of, key):
		m.plan.Abandoned = append(m.plan.Abandoned, pool.Name)
	default:
		m.pending[pool.Name] = true
		if _, restored := m.released[of][key]; restored && m.released[of][key] != nil {
			return
		}
		m.released[of][key] = nil
		if value, ok := pool.original(m.node, of, key); ok && pool.Spec.Overwrite != nodesv1.OverwriteAlways {
			m.released[of][key] = &value
		}
	}
}

// handOver makes sure that what is to be put back one day is known to whoever decides the key: a pool that gives a key up
// to another one keeps its record of it until the other has noted the original.
func (m *merge) handOver() {
	var givers []*Pool
	for _, pool := range m.pools {
		if pool.noted(m.node) { // hardly ever
			givers = append(givers, pool)
		}
	}
	slices.SortFunc(givers, func(a, b *Pool) int { return strings.Compare(a.Name, b.Name) })
	for _, giver := range givers {
		for _, of := range aspects() {
			for _, key := range slices.Sorted(maps.Keys(m.claims[of])) {
				m.handOverKey(giver, of, key)
			}
		}
	}
}

func (m *merge) handOverKey(giver *Pool, of aspect, key string) {
	value, noted := giver.original(m.node, of, key)
	taker := m.pools[m.claims[of][key].pool]
	if !noted || taker == nil || taker == giver || slices.Contains(m.after[giver.Name].keys(of), key) {
		return
	}
	if _, has := taker.original(m.node, of, key); has {
		return
	}
	m.plan.Originals = append(m.plan.Originals, Original{Pool: taker.Name, Key: Key{of, key}, Value: value})
	m.note(giver.Name, of, key)
	m.pending[taker.Name] = true
	if slices.Contains(m.before[giver.Name].keys(of), key) {
		m.after.add(giver.Name, of, key)
		m.pending[giver.Name] = true
	}
}

// note says that the pool's status has to go on holding the original of a key.
func (m *merge) note(pool string, of aspect, key string) {
	if m.plan.Kept == nil {
		m.plan.Kept = map[string][]Key{}
	}
	m.plan.Kept[pool] = append(m.plan.Kept[pool], Key{of, key})
}

func isMembership(of aspect, key string) bool {
	return of == onLabels && (strings.HasPrefix(key, nodesv1.MemberLabelPrefix) || strings.HasPrefix(key, nodesv1.RoleLabelPrefix))
}
