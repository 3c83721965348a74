// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// claim says which pool decides a key, and with which value.
type claim struct {
	pool  string
	value string
	// held is true for a key that is kept as it is.
	held bool
	// foreign is true for a key that another owner has set as the pool wants it.
	foreign bool
}

// merge is the state of one computation.
type merge struct {
	node          *corev1.Node
	pools         Pools
	before, after Record
	// shown are the pools, sorted, that the record names or whose member label the node has.
	shown []string
	// current is what the node has, claims what it has to have, released what no pool claims any more: the value to restore, or
	// nil to remove.
	current  [aspectCount]map[string]string
	claims   [aspectCount]map[string]claim
	released [aspectCount]map[string]*string
	pending  map[string]bool
	// joined are the pools that put on the node what they want. incomplete is true while it is not all that its pools want.
	joined     []string
	incomplete bool
	// opens is true when the plan takes the taint off with which the node registered itself closed.
	opens bool
	// deferred is true where the node waits for its batch in a pool, though maybe with nothing to change.
	deferred bool
	// passed are the keys that a pool left to another owner.
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
	m.shown = m.before.pools()
	for _, name := range Joined(node) {
		if _, recorded := m.before[name]; !recorded { // hardly ever: the record is lost
			m.shown = append(m.shown, name)
		}
	}
	slices.Sort(m.shown)
	return m
}

// holds reports whether what the pool has on the node stays as it is: the pool holds everywhere, or the node is a member whose
// batch has not come.
func (m *merge) holds(pool *Pool) bool {
	return pool.holds() || pool.defers(m.node) && !pool.left(m.node, m.before)
}

// join claims what the pool wants, as far as it may have it.
func (m *merge) join(pool *Pool) {
	m.joined = append(m.joined, pool.Name)
	m.remember(pool)
	wanted := pool.wanted()
	m.wantRole(pool, wanted[onLabels])
	if m.doubtful(pool) {
		delete(wanted[onLabels], pool.MemberLabel())
		m.keep(pool, onLabels, nodesv1.AddressLabel(pool.Name))
		m.pending[pool.Name] = true
	}
	for _, of := range aspects() {
		for _, key := range sortedKeys(wanted[of]) {
			m.want(pool, of, key, wanted[of][key])
		}
	}
	m.keepSelected(pool)
}

// keepSelected keeps the member label that the pool no longer gives, until its status says that the RuntimeClass selects the other one:
// new pods would find no node. Nobody gets it anew.
func (m *merge) keepSelected(pool *Pool) {
	if pool.Status.MemberLabel == pool.MemberLabel() {
		return
	}
	for _, key := range nodesv1.MemberLabels(pool.Name) {
		if _, carried := m.node.Labels[key]; carried && key != pool.MemberLabel() {
			m.keep(pool, onLabels, key)
		}
	}
}

// remember keeps what the record names and the ledger does not confirm, while the ledger lacks what the pool wants: a pool that has lost
// its status is about to write its ledger again.
func (m *merge) remember(pool *Pool) {
	for _, of := range aspects() {
		for _, key := range m.before[pool.Name].keys(of) {
			if !confirms(pool.Status.Ledger, of, key) && !Covers(pool.NodePool) {
				m.after.add(pool.Name, of, key)
			}
		}
	}
}

// want claims one key for the pool, or says why it cannot have it.
func (m *merge) want(pool *Pool, of aspect, key, value string) {
	recorded := slices.Contains(m.before[pool.Name].keys(of), key)
	if !allows(pool.Status.Ledger, of, key, value) {
		m.pending[pool.Name], m.incomplete, m.plan.Early = true, true, true
		// A taint whose new value is not allowed yet keeps the old one, so that the node is never without it in between.
		if recorded {
			m.keep(pool, of, key)
		}
		return
	}
	if winner, taken := m.claims[of][key]; taken {
		if winner.value != value {
			m.conflict(pool, of, key, winner.pool)
			return
		}
		if !winner.foreign || recorded || m.mayTake(pool, of, key, winner.value, value) {
			m.after.add(pool.Name, of, key)
		}
		return
	}
	have, present := m.current[of][key]
	foreign := present && !m.ours(of, key) && !isMembership(of, key)
	if foreign && !m.mayTake(pool, of, key, have, value) {
		m.pass(pool, of, key, have, value)
		return
	}
	m.claims[of][key] = claim{pool: pool.Name, value: value}
	m.after.add(pool.Name, of, key)
	// A pool that comes before this one and left the key to another owner takes it over as soon as it is a pool's.
	m.incomplete = m.incomplete || m.passed[Key{of, key}]
}

// pass leaves a key to another owner. One with the value that the pool wants is not for other pools to change.
func (m *merge) pass(pool *Pool, of aspect, key, have, wanted string) {
	if have == wanted {
		m.claims[of][key] = claim{pool: pool.Name, value: have, held: true, foreign: true}
		return
	}
	if m.passed == nil {
		m.passed = map[Key]bool{}
	}
	m.passed[Key{of, key}] = true
}

// ours reports whether a pool has put the key on the node: the record names it for the pool, and the ledger of the pool confirms it.
func (m *merge) ours(of aspect, key string) bool {
	for name, entry := range m.before {
		pool, exists := m.pools[name]
		if exists && slices.Contains(entry.keys(of), key) && confirms(pool.Status.Ledger, of, key) {
			return true
		}
	}
	return false
}

// mayTake decides about a key that another owner has set.
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
		original := Original{Pool: pool.Name, Key: Key{of, key}, Value: have}
		if !cut(of, have) && hasRoom(pool.Status.Originals, m.node, original) {
			m.plan.Originals = append(m.plan.Originals, original)
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

// release lets go what the record names and no member claims any more, as far as the ledger of its pool confirms it.
func (m *merge) release() {
	for _, name := range m.shown {
		pool, exists := m.pools[name]
		entry, recorded := m.before[name]
		switch {
		case !exists && recorded:
			m.plan.Abandoned = append(m.plan.Abandoned, name)
			continue
		case !exists:
			continue
		}
		for _, of := range aspects() {
			for _, key := range entry.keys(of) {
				m.releaseKey(pool, of, key)
			}
		}
		if !pool.holds() && pool.left(m.node, m.before) && (m.bears(pool) || m.proven(pool)) {
			m.plan.Leaving = append(m.plan.Leaving, name)
			m.pending[name] = true
		}
	}
	// Only Windlass sets member labels, so they are removed even if the record is lost.
	for key := range m.node.Labels {
		if name, ok := nodesv1.CutMemberLabel(key); ok && m.pools[name] != nil {
			m.releaseKey(m.pools[name], onLabels, key)
		}
	}
	m.handOver()
}

// releaseKey lets go one key of a pool.
func (m *merge) releaseKey(pool *Pool, of aspect, key string) {
	claim, claimed := m.claims[of][key]
	_, present := m.current[of][key]
	theirs := of == onLabels && key == nodesv1.RoleLabel(pool.Name) && m.current[of][key] != ""
	orphan := pool.DeletionTimestamp != nil && pool.Spec.DeletionPolicy == nodesv1.DeletionOrphan
	switch {
	case claimed && claim.foreign && claim.pool != pool.Name && confirms(pool.Status.Ledger, of, key):
		if !slices.Contains(m.after[pool.Name].keys(of), key) { // a pool that holds takes over what it wants as well
			m.after.add(claim.pool, of, key)
		}
	case claimed || !present || theirs || m.holds(pool):
	case orphan && !isMembership(of, key):
	case !m.takesOff(pool, of, key):
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

// handOver makes sure that the pool that decides a key knows the original value: a pool that gives a key up to another one
// keeps its record of the original until the other one has noted it, if that one has room for it.
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
			for _, key := range sortedKeys(m.claims[of]) {
				m.handOverKey(giver, of, key)
			}
		}
	}
}

func (m *merge) handOverKey(giver *Pool, of aspect, key string) {
	value, noted := giver.original(m.node, of, key)
	taker := m.pools[m.claims[of][key].pool]
	if !noted || taker == nil || m.claims[of][key].foreign || taker == giver || slices.Contains(m.after[giver.Name].keys(of), key) {
		return
	}
	original := Original{Pool: taker.Name, Key: Key{of, key}, Value: value}
	if _, has := taker.original(m.node, of, key); has || !hasRoom(taker.Status.Originals, m.node, original) {
		return
	}
	m.plan.Originals = append(m.plan.Originals, original)
	m.note(giver.Name, of, key)
	m.pending[taker.Name] = true
	if slices.Contains(m.before[giver.Name].keys(of), key) {
		m.after.add(giver.Name, of, key)
		m.pending[giver.Name] = true
	}
}

// note records that the pool's status must keep the original of a key.
func (m *merge) note(pool string, of aspect, key string) {
	if m.plan.Kept == nil {
		m.plan.Kept = map[string][]Key{}
	}
	m.plan.Kept[pool] = append(m.plan.Kept[pool], Key{of, key})
}
