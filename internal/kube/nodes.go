// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// poolField is the name of the index from a pool's name to the nodes that show that the pool concerns them.
const poolField = "windlass.pool"

// IndexNodes returns a function that makes a cache find nodes by their pools. Shown returns the names of the pools that a node
// itself shows, by its labels and annotations.
func IndexNodes(shown func(node client.Object) []string) func(ctx context.Context, indexer client.FieldIndexer) error {
	return func(ctx context.Context, indexer client.FieldIndexer) error {
		return indexer.IndexField(ctx, &corev1.Node{}, poolField, shown)
	}
}

// NodeSet is a set of nodes under the name of a pool.
type NodeSet interface {
	// GetName returns the name of the pool.
	GetName() string
	// Selects reports whether nodes that do not show the pool may be in the set.
	Selects() bool
	// Concerns reports whether a node is in the set.
	Concerns(node *corev1.Node) bool
}

// Nodes returns the nodes of the set from a cache with the index of IndexNodes. They are not copied and must not be changed. Only
// a set that selects nodes makes it look at all of them.
func Nodes(ctx context.Context, cached client.Reader, set NodeSet) ([]corev1.Node, error) {
	list := &corev1.NodeList{}
	options := []client.ListOption{client.UnsafeDisableDeepCopy}
	if !set.Selects() {
		options = append(options, client.MatchingFields{poolField: set.GetName()})
	}
	if err := cached.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("cannot list the nodes of pool %q: %w", set.GetName(), err)
	}
	if !set.Selects() {
		return list.Items, nil
	}
	// The nodes are moved within the list: a copy of each for a function would be most of what a count allocates.
	kept := 0
	for i := range list.Items {
		if set.Concerns(&list.Items[i]) {
			list.Items[kept] = list.Items[i]
			kept++
		}
	}
	clear(list.Items[kept:])
	return list.Items[:kept], nil
}
