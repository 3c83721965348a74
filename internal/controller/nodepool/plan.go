// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// decision is what a pass has decided. It is made once, from what has been observed.
type decision struct {
	// class is the RuntimeClass that the pool wants, with its handler.
	class class
	// held are the nodes, sorted, that leave and that the brake holds, and consent is what to remember of the acknowledgement.
	held    []string
	consent consent
	// cleared are the nodes that may leave.
	cleared []string
	// draining are the nodes that are being drained, timedOut those whose time is over.
	draining, timedOut []nodesv1.DrainingNode
	// rollout names the batch of nodes that may follow, and pause is when the next one may begin.
	rollout *nodesv1.RolloutStatus
	pause   time.Duration
	// ledger and originals are those that the status has to hold next.
	ledger    nodesv1.Ledger
	originals []nodesv1.Original
}

// braked reports whether the brake holds nodes that leave.
func (d decision) braked() bool { return len(d.held) > 0 }

// decide returns what to do about the pool. The result depends on nothing but the arguments.
func decide(pool *nodesv1.NodePool, seen *observation, now time.Time) decision {
	d := decision{
		class:     wantedClass(pool, seen.runtimeClass, seen.nodes),
		ledger:    planLedger(pool, seen.nodes),
		originals: planOriginals(pool, seen.nodes),
	}
	if seen.outrun { // nothing is forgotten
		d.ledger, d.originals = membership.Union(membership.Wanted(pool), pool.Status.Ledger), noteOriginals(pool, seen.nodes)
	}
	d.held, d.consent = planBrake(pool, seen)
	d.draining, d.timedOut = planDraining(pool, seen, d.held, now)
	d.cleared = planClearances(pool, seen, d)
	d.rollout, d.pause = planRollout(pool, seen, now)
	return d
}

// planClearances returns the nodes that may lose what they carry: those that left, where the brake does not hold them, and once they are
// drained where the pool says so, unless they only claim to have been in it. While the ledger has to be written again, a node that was being drained looks
// like one of these, and waits. A pool that is being deleted and drains nothing lets all of its nodes go, once no pod uses it.
func planClearances(pool *nodesv1.NodePool, seen *observation, d decision) []string {
	if seen.users > 0 {
		return nil
	}
	free := slices.DeleteFunc(slices.Clone(seen.nodes.leaving), func(name string) bool { return contains(d.held, name) })
	switch {
	case membership.Evicts(pool):
		return slices.DeleteFunc(free, func(name string) bool {
			drained := slices.ContainsFunc(d.draining, func(entry nodesv1.DrainingNode) bool { return entry.Drained && entry.Node == name })
			return !drained && (!onlyClaims(pool, seen.nodes, name) || !membership.Covers(pool))
		})
	case pool.DeletionTimestamp != nil:
		return seen.nodes.carrying
	}
	return free
}

// waitsForUsers reports whether a pool that is being deleted waits for the pods that chose it: not where they are evicted, or where the
// deletion is forced. The RuntimeClass does not matter, because a deletion in the foreground takes it first.
func waitsForUsers(pool *nodesv1.NodePool) bool {
	forced := pool.Annotations[nodesv1.ForceDeleteAnnotation] == "true"
	return !forced && !membership.Evicts(pool)
}

// classAction is what has to be done about the RuntimeClass.
type classAction int

const (
	classFine classAction = iota
	classCreate
	classUpdate
	// classRecreate is for a changed handler, which the API does not allow to update.
	classRecreate
	// classForeign is for a RuntimeClass of the pool's name that is not the pool's. It is left alone.
	classForeign
)

// class is the RuntimeClass that a pool wants.
type class struct {
	handler string
	// memberLabel is the one by which nodeSelector selects members.
	memberLabel  string
	nodeSelector map[string]string
	tolerations  []corev1.Toleration
}

// wantedClass returns the RuntimeClass of the pool. It tolerates what the pool's nodes have and are about to have, and what
// the pools put there that share a node with it: a pod that did not tolerate those could run on no shared node.
func wantedClass(pool *nodesv1.NodePool, have *nodev1.RuntimeClass, nodes aggregate) class {
	wanted := class{
		handler:     chooseHandler(pool, have, nodes),
		memberLabel: chooseMemberLabel(pool, have, nodes),
	}
	wanted.nodeSelector = map[string]string{wanted.memberLabel: ""}
	for key, value := range pool.Spec.Labels {
		wanted.nodeSelector[key] = string(value)
	}
	for _, taint := range slices.Concat(tolerated(pool), nodes.neighbours) {
		wanted.tolerations = append(wanted.tolerations, corev1.Toleration{
			Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect,
		})
	}
	slices.SortFunc(wanted.tolerations, func(a, b corev1.Toleration) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Effect, b.Effect))
	})
	wanted.tolerations = slices.Compact(wanted.tolerations)
	return wanted
}

// chooseHandler returns the handler that the spec names, or one that every member offers: the one in force before another, because
// a change is a gap, then runc, then the first by name. Where no member reports its handlers, or they have none in common, it is
// runc, unless the one in force is still of use somewhere: a new node of another kind must not take it from all others.
func chooseHandler(pool *nodesv1.NodePool, have *nodev1.RuntimeClass, nodes aggregate) string {
	if pool.Spec.Handler != "" {
		return pool.Spec.Handler
	}
	var common []string
	for name, offered := range nodes.handlers {
		if offered == nodes.reporting {
			common = append(common, name)
		}
	}
	slices.Sort(common)
	inForce := ""
	if have != nil && metav1.IsControlledBy(have, pool) {
		inForce = have.Handler
	}
	switch {
	case inForce != "" && (slices.Contains(common, inForce) || nodes.reporting == 0 || len(common) == 0 && nodes.handlers[inForce] > 0):
		return inForce
	case len(common) == 0 || slices.Contains(common, nodesv1.DefaultHandler):
		return nodesv1.DefaultHandler
	}
	return common[0]
}

// chooseMemberLabel returns the label by which the RuntimeClass selects members: the one that they are given now, or the one in force while
// a member carries only that one.
func chooseMemberLabel(pool *nodesv1.NodePool, have *nodev1.RuntimeClass, nodes aggregate) string {
	wanted, inForce := pool.MemberLabel(), pool.Status.MemberLabel
	if have != nil && metav1.IsControlledBy(have, pool) {
		inForce = cmp.Or(membership.SelectedLabel(have, pool.Name), inForce)
	}
	if nodes.relabelling > 0 && slices.Contains(nodesv1.MemberLabels(pool.Name), inForce) {
		return inForce
	}
	return wanted
}

// tolerated returns the taints that nodes of the pool have or are about to have for it: those of the spec, and those of the
// ledger until every node has followed.
func tolerated(pool *nodesv1.NodePool) []nodesv1.Taint {
	return membership.Taints(membership.Union(membership.Wanted(pool), pool.Status.Ledger))
}

// neighborTaints returns the taints of the pools that share a node with this one in the form of a ledger, sorted.
func neighborTaints(nodes aggregate) []string {
	var list []string
	for _, taint := range nodes.neighbours {
		list = append(list, membership.LedgerTaint(taint))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// planClass compares the RuntimeClass that there is with the wanted one.
func planClass(pool *nodesv1.NodePool, have *nodev1.RuntimeClass, wanted class) classAction {
	switch {
	case have == nil:
		return classCreate
	case !metav1.IsControlledBy(have, pool):
		return classForeign
	case have.Handler != wanted.handler:
		return classRecreate
	case have.Scheduling == nil,
		!maps.Equal(have.Scheduling.NodeSelector, wanted.nodeSelector),
		!equality.Semantic.DeepEqual(have.Scheduling.Tolerations, wanted.tolerations):
		return classUpdate
	default:
		return classFine
	}
}

// planLedger returns the ledger for the pool: everything that the spec wants, and what was there before until no node is
// left that has to follow. Members keep a label that the RuntimeClass selects without waiting for anything.
func planLedger(pool *nodesv1.NodePool, nodes aggregate) nodesv1.Ledger {
	wanted := membership.Wanted(pool)
	grown := membership.Union(wanted, pool.Status.Ledger)
	relabelled := pool.Status.MemberLabel == pool.MemberLabel()
	if len(nodes.pending) > 0 || !relabelled || !equality.Semantic.DeepEqual(grown, pool.Status.Ledger) {
		return grown
	}
	return wanted
}

// planOriginals returns the originals for the pool's status: with those that have to be noted before their keys are replaced,
// and without those that nothing needs any more. What belongs to an older spec is only forgotten in a later pass, when no
// worker can still be acting on it.
func planOriginals(pool *nodesv1.NodePool, nodes aggregate) []nodesv1.Original {
	list := noteOriginals(pool, nodes)
	if pool.Status.ObservedGeneration != pool.Generation {
		return list
	}
	return membership.Forget(list, nodes.kept)
}

// noteOriginals returns the originals for the status of a pool that leaves nodes as they are, or cannot go on. It asks for none itself, but gets those of
// pools that leave their keys to it, and these wait for that.
func noteOriginals(pool *nodesv1.NodePool, nodes aggregate) []nodesv1.Original {
	list := pool.Status.Originals
	for _, n := range nodes.originals {
		list = membership.Remember(list, n.node, n.original)
	}
	return list
}
