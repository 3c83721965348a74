// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// Selection says what makes a node a member.
type Selection struct {
	// Role is true for a role label that another owner has set, Selector and Segment where spec.nodeSelector or spec.nodeCIDRs matches.
	Role, Selector, Segment bool
}

// Selection returns what makes the node a member. It is the zero value for a node that is not a member.
func (p *Pool) Selection(node *corev1.Node) Selection {
	role, own := nodesv1.RoleLabel(p.Name), p.own(node, ParseRecord(node))
	_, labelled := node.Labels[role]
	return Selection{
		Role: labelled && !slices.Contains(own, role), Selector: p.selectsLabels(node, own), Segment: p.selectsAddress(node),
	}
}

// Holds reports whether the pool leaves everything on nodes as it is: it is paused, in dry run or without its finalizer.
func (p *Pool) Holds() bool { return p.holds() }

// Waits reports whether the node is a member whose batch has not come, although it has to follow the pool.
func (p *Pool) Waits(node *corev1.Node, pools Pools) bool {
	return p.defers(node) && Behind(node, pools, p.Name)
}

// Holder is who has put a key on a node for Windlass.
type Holder struct {
	// Pool is the name of the pool.
	Pool string
	// Replaced is the value of another owner that comes back when the node leaves the pool, nil for none.
	Replaced *string
}

// Holders returns who holds the keys that the node carries, by the key as a Conflict has it. The record of the node is its own word, so a
// key counts only where the ledger of the pool confirms it.
func Holders(node *corev1.Node, pools Pools) map[string]Holder {
	out := map[string]Holder{}
	record := ParseRecord(node)
	for _, name := range record.pools() {
		pool, exists := pools[name]
		if !exists {
			continue
		}
		for _, of := range aspects() {
			for _, key := range record[name].keys(of) {
				if !confirms(pool.Status.Ledger, of, key) {
					continue
				}
				holder := Holder{Pool: name}
				if value, noted := pool.original(node, of, key); noted {
					holder.Replaced = &value
				}
				out[of.describe(key)] = holder
			}
		}
	}
	for key := range node.Labels {
		// Only Windlass sets member labels, also where the record is lost.
		if name, ok := nodesv1.CutMemberLabel(key); ok && pools[name] != nil {
			out[onLabels.describe(key)] = Holder{Pool: name}
		}
	}
	return out
}

// LabelKey returns a label as a Conflict has it.
func LabelKey(key string) string { return onLabels.describe(key) }

// AnnotationKey returns an annotation as a Conflict has it.
func AnnotationKey(key string) string { return onAnnotations.describe(key) }

// TaintKey returns a taint as a Conflict has it.
func TaintKey(taint *corev1.Taint) string { return onTaints.describe(taintID(taint.Key, taint.Effect)) }
