// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

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
	handler      string
	nodeSelector map[string]string
	tolerations  []corev1.Toleration
}

// wantedClass returns the RuntimeClass of the pool. It tolerates what the pool's nodes have and are about to have, and what
// the pools put there that share a node with it: a pod that did not tolerate those could run on no shared node.
func wantedClass(pool *nodesv1.NodePool, neighbours []nodesv1.Taint) class {
	wanted := class{
		handler:      cmp.Or(pool.Spec.Handler, nodesv1.DefaultHandler),
		nodeSelector: map[string]string{nodesv1.MemberLabel(pool.Name): ""},
	}
	for key, value := range pool.Spec.Labels {
		wanted.nodeSelector[key] = string(value)
	}
	for _, taint := range slices.Concat(tolerated(pool), neighbours) {
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

// tolerated returns the taints that nodes of the pool have or are about to have for it: those of the spec, and those of the
// ledger until every node has followed.
func tolerated(pool *nodesv1.NodePool) []nodesv1.Taint {
	return membership.Taints(membership.Union(membership.Wanted(pool), pool.Status.Ledger))
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
// left that has to follow.
func planLedger(pool *nodesv1.NodePool, nodes census) nodesv1.Ledger {
	wanted := membership.Wanted(pool)
	grown := membership.Union(wanted, pool.Status.Ledger)
	if len(nodes.pending) > 0 || !equality.Semantic.DeepEqual(grown, pool.Status.Ledger) {
		return grown
	}
	return wanted
}
