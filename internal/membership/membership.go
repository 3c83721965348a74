// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package membership decides what a node shall carry for the pools it is in. It is pure: from a node and all pools it
// computes one plan, and from the plan one patch.
//
// A node may be in many pools, so nothing here is computed per pool. Two records decide what may be taken off a node: the
// node's own annotation, which says which key was put there for which pool, and the ledger in the pool's status, which
// says which keys the pool may have put anywhere. A key goes only if both name it. A kubelet may write the annotations of
// its own node, so the annotation alone would let a compromised node shed a taint that somebody else has set.
package membership

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// IndexField is the name of the index from a pool's name to the nodes that are its members or carry something of it.
const IndexField = "windlass.pool"

// AddIndexes registers IndexField.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	return indexer.IndexField(ctx, &corev1.Node{}, IndexField, Concerned)
}

// Of returns the names of the pools whose role label the node has, sorted. Kubernetes and other tools set role labels too,
// so not every name is that of a pool.
func Of(node client.Object) []string {
	var names []string
	for key := range node.GetLabels() {
		if name, ok := strings.CutPrefix(key, nodesv1.RoleLabelPrefix); ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Concerned returns the names of all pools that the node is in or that have left something on it, sorted.
func Concerned(node client.Object) []string {
	names := Of(node)
	for name := range ParseRecord(node) {
		names = append(names, name)
	}
	for key := range node.GetLabels() {
		if name, ok := strings.CutPrefix(key, nodesv1.MemberLabelPrefix); ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Pools are all pools by name.
type Pools map[string]*nodesv1.NodePool

// NewPools returns the pools of a list by name. The list's items are referred to, not copied.
func NewPools(list *nodesv1.NodePoolList) Pools {
	pools := make(Pools, len(list.Items))
	for i := range list.Items {
		pools[list.Items[i].Name] = &list.Items[i]
	}
	return pools
}

// members returns the pools that the node is in, the one that wins a conflict first: the older one, then by name.
func (p Pools) members(node client.Object) []*nodesv1.NodePool {
	var members []*nodesv1.NodePool
	for _, name := range Of(node) {
		if pool, ok := p[name]; ok {
			members = append(members, pool)
		}
	}
	slices.SortFunc(members, func(a, b *nodesv1.NodePool) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return members
}

// Shared reports whether the node is in a pool besides the named one.
func (p Pools) Shared(node client.Object, name string) bool {
	return slices.ContainsFunc(p.members(node), func(pool *nodesv1.NodePool) bool { return pool.Name != name })
}
